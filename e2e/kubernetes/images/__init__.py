"""Container images for tests, made of what this machine has built, without a container engine."""
