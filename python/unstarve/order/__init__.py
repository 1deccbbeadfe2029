"""Which samples make up each batch, in torch's order, and how a restart finds the place again."""
