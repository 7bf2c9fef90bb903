// A soft tone on one's own turn, made by WebAudio: no file to load.

/** @type {AudioContext | null} */
let context = null;

const TONE_S = 0.18;

export function playTurnSound() {
  try {
    context ??= new AudioContext();
    // A page that was never touched may not sound: it stays silent until then.
    if (context.state === "suspended") void context.resume();
    const at = context.currentTime;
    const gain = context.createGain();
    gain.gain.setValueAtTime(0.0001, at);
    gain.gain.exponentialRampToValueAtTime(0.08, at + 0.02);
    gain.gain.exponentialRampToValueAtTime(0.0001, at + TONE_S);
    gain.connect(context.destination);
    const tone = context.createOscillator();
    tone.frequency.setValueAtTime(587, at);
    tone.frequency.setValueAtTime(784, at + TONE_S / 2);
    tone.connect(gain);
    tone.start(at);
    tone.stop(at + TONE_S);
  } catch {
    // No audio device: the title and the bar still say whose turn it is.
  }
}
