"""Batches on their way to a device, ahead of the training step."""
