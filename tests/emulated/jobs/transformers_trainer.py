"""Hugging Face's Trainer: a small BERT in bf16 on random tokens, evaluated and saved."""

import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class RandomSentences(Dataset):
    def __init__(self, count: int) -> None:
        generator = torch.Generator().manual_seed(0)
        self.tokens = torch.randint(5, 1000, (count, 64), generator=generator)

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        tokens = self.tokens[index]
        return {
            "input_ids": tokens,
            "attention_mask": torch.ones_like(tokens),
            "labels": torch.tensor(index % 2),
        }


def main() -> None:
    config = BertConfig(
        vocab_size=1000,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=256,
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=16,
            per_device_eval_batch_size=16,
            max_steps=12,
            logging_steps=4,
            save_steps=8,
            gradient_accumulation_steps=2,
            bf16=True,
            dataloader_num_workers=1,
            report_to=[],
        )
        trainer = Trainer(
            BertForSequenceClassification(config),
            arguments,
            train_dataset=RandomSentences(512),
            eval_dataset=RandomSentences(64),
        )
        result = trainer.train()
        evaluated = trainer.evaluate()
    print("device", arguments.device)
    print("steps", result.global_step, "evaluated", sorted(evaluated)[:2])


if __name__ == "__main__":
    main()
