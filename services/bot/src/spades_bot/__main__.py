"""`python -m spades_bot`."""

from spades_bot.app import main
from spades_bot.settings import BotSettings
from spades_runtime.process import run

if __name__ == "__main__":
    run(main, BotSettings)
