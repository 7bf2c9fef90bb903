"""`python -m spades_lobby`: the gateway as a process of its own."""

from spades_lobby.app import main
from spades_lobby.settings import LobbySettings
from spades_runtime.process import run

if __name__ == "__main__":
    run(main, LobbySettings)
