"""Set H of the zoo, which is held out: whoever wrote it had read neither the rules nor the report,
no rule is tuned with it, and what fails in it is told in counts alone. It has three jobs of each of
twelve fields: one with a plant, one with two, and a healthy one. A cure is the change that somebody
who knows the field would make, and the results stay what they were."""

from __future__ import annotations

from planted import HOST, Job, Plant, one_batch
from set_h_fields import SECOND_HALF

PICTURES = (
    Job(
        "leaf_diseases",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "python_transform", "too_few_workers"),
                'image = Image.open(path).convert("RGB")',
                ("draft",),
                (
                    (
                        'image = Image.open(path).convert("RGB")',
                        "image = Image.open(path)\n"
                        '        image.draft("RGB", (160, 160))\n'
                        '        image = image.convert("RGB")',
                    ),
                ),
                "decode_smaller",
            ),
        ),
    ),
    Job(
        "road_cracks",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "too_few_workers"),
                "image = cv2.imread(self.files[i])",
                ("imread",),
                (
                    (
                        "        self.files = files\n",
                        "        self.files = files\n"
                        "        self.kept = [self.read(i) for i in range(len(files))]\n",
                    ),
                    ("self.read(i % len(self.files))", "self.kept[i % len(self.files)]"),
                ),
                "decode_beforehand",
            ),
            Plant(
                ("sync",),
                (),
                "inter[c] += ((pred == c) & (masks == c)).sum().item()",
                (),
                (
                    (
                        "(masks == c)).sum().item()\n            union",
                        "(masks == c)).sum()\n            union",
                    ),
                    (
                        "((pred == c) | (masks == c)).sum().item()",
                        "((pred == c) | (masks == c)).sum()",
                    ),
                ),
                "metrics_on_device",
            ),
        ),
    ),
    Job("parking_lots", cure=one_batch("    for step, (spaces, taken) in enumerate(loader, 1):")),
)

WORDS = (
    Job(
        "support_tickets",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                "return self.tokenizer(",
                ("encode", "tokenizer"),
                (
                    (
                        "self.tokenizer = tokenizer\n",
                        "self.tokenizer = tokenizer\n"
                        "        self.encoded = [self.encode(text) for text in self.texts]\n",
                    ),
                    ("self.encode(self.texts[i]).items()", "self.encoded[i].items()"),
                ),
                "tokenise_beforehand",
            ),
        ),
    ),
    Job(
        "news_topics",
        (
            Plant(
                ("gpu_busy", "kernel_wait"),
                ("padding",),
                'batch["text"], truncation=True, max_length=MAX_LENGTH, padding="max_length"',
                ("padding", "pad", "DataCollatorWithPadding"),
                ((', padding="max_length"', ""),),
                "pad_to_the_longest",
            ),
            Plant(
                ("input_wait",),
                ("evaluation", "evaluation_loader", "loader_startup"),
                "val_loader = DataLoader(val",
                ("evaluation", "persistent_workers"),
                (
                    (
                        "DataLoader(val, batch_size=64,",
                        "DataLoader(val, persistent_workers=True, batch_size=64,",
                    ),
                ),
                "persistent_workers",
            ),
        ),
    ),
    Job("reading_levels", cure=one_batch("    for step, (ids, ages) in enumerate(loader, 1):")),
)

TOKENS = (
    Job(
        "harbour_news_gpt",
        (
            Plant(
                (*HOST, "input_wait"),
                ("host_work",),
                "return torch.tensor(self.tokenizer.encode(chunk)",
                ("encode", "sample", "get_batch"),
                (
                    (
                        "VOCABULARY, show_progress=False)\n",
                        "VOCABULARY, show_progress=False)\n"
                        "        self.ids = torch.tensor(self.tokenizer.encode(text).ids)\n",
                    ),
                    ("len(self.text) - 12 * BLOCK)", "len(self.ids) - BLOCK)"),
                    ("        chunk = self.text[start : start + 12 * BLOCK]\n", ""),
                    (
                        "torch.tensor(self.tokenizer.encode(chunk).ids[: BLOCK + 1])",
                        "self.ids[start : start + BLOCK + 1]",
                    ),
                ),
                "tokenise_beforehand",
            ),
        ),
    ),
    Job(
        "code_pretrain",
        (
            Plant(
                (*HOST, "input_wait"),
                ("host_work",),
                "return [[a == b and j <= i for j, b in enumerate(docs)]",
                ("mask", "Packer"),
                (
                    (
                        "masks = torch.tensor([self.mask(docs) for _, docs in rows])",
                        "docs = torch.tensor([docs for _, docs in rows])\n"
                        "        masks = (docs[:, :, None] == docs[:, None]).tril()",
                    ),
                ),
                "vectorise",
            ),
            Plant(
                ("sync",),
                (),
                "norms = {name: p.grad.norm().item()",
                (),
                (("p.grad.norm().item() for", "p.grad.norm() for"),),
                "metrics_on_device",
            ),
        ),
    ),
    Job("old_letters_gpt", cure=(("self.ready, self.draw()", "self.ready, self.ready"),)),
)

SOUND = (
    Job(
        "whale_song",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                "_, _, power = spectrogram(",
                ("spectrogram", "features"),
                (
                    (
                        "for file in files]\n\n    def __len__",
                        "for file in files]\n"
                        "        self.kept = [self.features(i) for i in range(len(files))]\n\n"
                        "    def __len__",
                    ),
                    ("return self.features(i), self", "return self.kept[i], self"),
                ),
                "features_beforehand",
            ),
        ),
    ),
    Job(
        "keyword_spotting",
        (
            Plant(
                ("input_wait", *HOST),
                ("sampler", "loader_startup"),
                "return [len(sound) for sound, _ in self.dataset]",
                ("SimilarLength", "lengths", "sampler"),
                (
                    (
                        "self.dataset, self.batch_size = dataset, batch_size\n",
                        "self.dataset, self.batch_size = dataset, batch_size\n"
                        "        self.kept = self.lengths()\n",
                    ),
                    ("        lengths = self.lengths()\n", "        lengths = self.kept\n"),
                ),
                "lengths_once",
            ),
            Plant(
                (*HOST, "sync", "exposed_copy"),
                ("host_work", "logging"),
                "return {n: np.histogram(w.detach()",
                ("histograms_of", "histogram"),
                (("if step % 5 == 0:", "if step % 250 == 0:"),),
                "log_less_often",
            ),
        ),
    ),
    Job(
        "speaker_labels",
        cure=one_batch("    for step, (sounds, speakers) in enumerate(loader, 1):"),
    ),
)

TABLES = (
    Job(
        "loan_defaults",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                "row = self.df.iloc[idx]",
                ("iloc", "pandas"),
                (
                    (
                        'if name != "defaulted"]\n',
                        'if name != "defaulted"]\n'
                        "        x, y = self.df[self.features], self.df.defaulted\n"
                        "        self.x = torch.tensor(x.to_numpy(np.float32))\n"
                        "        self.y = torch.tensor(y.to_numpy(np.float32))\n",
                    ),
                    (
                        "        row = self.df.iloc[idx]\n"
                        "        x = torch.tensor(row[self.features].to_numpy(dtype=np.float32))\n"
                        '        y = torch.tensor(row["defaulted"], dtype=torch.float32)\n'
                        "        return x, y\n",
                        "        return self.x[idx], self.y[idx]\n",
                    ),
                ),
                "tensors_for_rows",
            ),
        ),
    ),
    Job(
        "flight_delays",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers", "too_many_workers"),
                "return islice(self.examples(), info.id, None, info.num_workers)",
                ("islice", "FlightStream"),
                (
                    (
                        "islice(self.examples(), info.id, None, info.num_workers)",
                        "self.examples(info.id, info.num_workers)",
                    ),
                ),
                "divide_among_workers",
            ),
            Plant(
                (*HOST, "sync"),
                ("host_work",),
                "auc = area_under_curve(scores, truth)",
                ("area_under_curve",),
                (
                    ("scores.append(logits.detach().cpu())", "scores.append(logits.detach())"),
                    ("        auc = area_under_curve(scores, truth)\n", ""),
                    (
                        '            print(f"area under curve',
                        "            auc = area_under_curve([s.cpu() for s in scores], truth)\n"
                        '            print(f"area under curve',
                    ),
                ),
                "metrics_less_often",
            ),
        ),
    ),
    Job(
        "house_prices",
        cure=(('                print(f"loss {loss.item():.4f}")\n', "                pass\n"),),
    ),
)

SERIES = (
    Job(
        "tide_gauges",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers", "storage"),
                "return self.levels.mean(1, keepdims=True), self.levels.std(",
                ("scale",),
                (
                    (
                        'self.levels = np.load(path, mmap_mode="r")\n',
                        'self.levels = np.load(path, mmap_mode="r")\n'
                        "        self.kept = self.scale()\n",
                    ),
                    ("mean, std = self.scale()", "mean, std = self.kept"),
                ),
                "statistics_once",
            ),
        ),
    ),
    Job(
        "power_grid",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_many_workers"),
                "return np.concatenate((day.mean(), day.max() - day.min()), axis=1)",
                ("smooth", "rolling", "pandas"),
                (
                    (
                        "        self.starts = ",
                        "        self.smoothed = self.smooth(self.load)\n        self.starts = ",
                    ),
                    (
                        "smooth = self.smooth(window)[DAY:]",
                        "smooth = self.smoothed[start + DAY : start + SEEN + DAY]",
                    ),
                ),
                "features_beforehand",
            ),
            Plant(
                ("input_wait",),
                ("loader_startup", "too_many_workers"),
                "GridWindows(), batch_size=16, shuffle=True, num_workers=args.num_workers",
                ("persistent_workers",),
                (
                    (
                        '"--num-workers", type=int, default=8',
                        '"--num-workers", type=int, default=2',
                    ),
                    (
                        "GridWindows(), batch_size=16, ",
                        "GridWindows(), persistent_workers=True, batch_size=16, ",
                    ),
                ),
                "fewer_workers_that_stay",
            ),
        ),
    ),
    Job("ecg_beats", cure=one_batch("        for signal, kinds in loader:")),
)

SET_H = (*PICTURES, *WORDS, *TOKENS, *SOUND, *TABLES, *SERIES, *SECOND_HALF)
