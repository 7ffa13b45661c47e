"""The filter's own calls that seal and open a value, timed natively and inside Envoy's V8: `filters/bench`."""

from loadtests.sealing.run import NATIVE, V8, Amount, measure
from loadtests.sealing.samples import Cipher, NotMeasured, Sample, read
from loadtests.sealing.tables import tables

__all__ = ["NATIVE", "V8", "Amount", "Cipher", "NotMeasured", "Sample", "measure", "read", "tables"]
