"""Record what real clients and real servers say to each other, for the Rust tests. Each module is a program."""
