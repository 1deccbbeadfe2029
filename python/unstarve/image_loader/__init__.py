"""The loader that brings its own order, crops and batches, and needs no torch."""
