"""`python -m spades_clock`."""

from spades_clock.app import main
from spades_clock.settings import ClockSettings
from spades_runtime.process import run

if __name__ == "__main__":
    run(main, ClockSettings)
