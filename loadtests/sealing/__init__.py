"""The filter's own calls, timed natively and inside Envoy's V8 (`filters/bench`): those that seal and open a value, and
all that a whole transaction makes."""

from loadtests.sealing.run import NATIVE, V8, measure
from loadtests.sealing.samples import Amount, Cipher, NotMeasured, Sample
from loadtests.sealing.tables import tables
from loadtests.sealing.transactions import Transactions, transaction_tables

__all__ = [
    "NATIVE",
    "V8",
    "Amount",
    "Cipher",
    "NotMeasured",
    "Sample",
    "Transactions",
    "measure",
    "tables",
    "transaction_tables",
]
