"""`python -m spades_local`: the same as `spades-local`."""

from spades_local.cli import main

if __name__ == "__main__":
    main()
