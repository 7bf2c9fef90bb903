"""`python -m spades_table`: run the table service, set up by the environment."""

from spades_runtime import run
from spades_table.app import main
from spades_table.settings import TableSettings

if __name__ == "__main__":
    run(main, TableSettings)
