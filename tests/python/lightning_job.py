"""A training by Lightning's loop, by either name of the package, which is its first word."""

LIGHTNING = """
import sys, torch
if "lightning" in sys.argv:
    import lightning.pytorch as pl
else:
    import pytorch_lightning as pl
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return torch.full((3,), float(index))
class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
    def training_step(self, rows):
        held.append((len(rows), trainer.global_step))
        return self.layer(rows).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
held = []
quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar"), False)
trainer = pl.Trainer(
    max_steps=3, accelerator="cpu", enable_model_summary=False, **quiet)
trainer.fit(Module(), torch.utils.data.DataLoader(Rows(), batch_size=4))
print(held)
"""
