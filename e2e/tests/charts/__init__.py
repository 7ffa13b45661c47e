"""What the charts render, without a cluster."""
