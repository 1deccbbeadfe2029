"""Set E of the zoo, which was held out: whoever wrote it had read neither the rules nor the report.
It has been opened since, and is still told in counts alone."""

from __future__ import annotations

from planted import HOST, Cure, Job, Plant, in_memory, one_batch

LAUNCHES = ("many_launches", "small_kernels", "launch_bound")


def waits(name: str, details: tuple[str, ...], line: str, cure: Cure, *says: str) -> Job:
    """A job whose DataLoader is late."""
    return Job(name, (Plant(("input_wait",), details, line, says, cure),))


def own_feed(name: str, details: tuple[str, ...], line: str, cure: Cure, *says: str) -> Job:
    """A job that is fed by something of its own, which is late."""
    return Job(name, (Plant(("input_wait", *HOST), details, line, says, cure),))


def held_back(name: str, line: str, cure: Cure) -> Job:
    """A job whose host waits for a value."""
    return Job(name, (Plant(("sync",), (), line, cure=cure),))


def eightfold(name: str, *batch: tuple[str, str]) -> Job:
    """A job that waits for launches: eight times the batch takes no longer."""
    cure = (*batch, ("step += 1", "step += 8"))
    return Job(name, (Plant(("launch",), LAUNCHES, says=("cuda_graphs_or_compile",), cure=cure),))


SET_E = (
    waits(
        "scanned_letters",
        ("decode_cpu", "too_few_workers"),
        "page = read_image(self.pages[i]",
        one_batch("    for step, (pages, writers) in enumerate(loader, 1):"),
    ),
    waits(
        "herbarium",
        ("python_transform", "too_few_workers"),
        "return image.filter(self.median)",
        (("            Despeckle(5),\n", ""),),
        "Despeckle",
    ),
    waits(
        "trainer_headlines",
        ("collate_ipc", "python_transform", "too_few_workers"),
        "while end > start and word[start:end] not in self.ids",
        (("for i in self.split(word)]", "for i in (7, 8, 9)]"),),
        "WordPieces",
        "split",
    ),
    waits(
        "card_payments",
        ("python_transform", "too_few_workers"),
        "now = datetime.strptime(when",
        one_batch("        for rows, fraud in loader:"),
        "strptime",
    ),
    waits(
        "map_tiles",
        ("late_storage", "storage", "off_cpu", "too_few_workers"),
        "with urlopen(f",
        one_batch("    for step, (tiles, roads) in enumerate(loader, 1):"),
    ),
    waits(
        "labelled_by_hand",
        ("lock", "off_cpu", "late_storage", "storage"),
        'self.db.execute("BEGIN EXCLUSIVE")',
        one_batch("    for step, (pictures, labels) in enumerate(loader):"),
        "lock",
    ),
    waits(
        "molecules",
        ("collate_ipc",),
        "if row[other] == FAR and other != first:",
        one_batch("    for step, (ids, hops, targets) in enumerate(loader, 1):"),
        "HopBatcher",
        "hops",
    ),
    waits(
        "machine_hum",
        ("too_few_workers", "python_transform"),
        "power = np.abs(np.fft.rfft(",
        one_batch("for step, spectra in enumerate(loader):"),
    ),
    waits(
        "plankton",
        ("too_many_workers", "python_transform", "decode_cpu"),
        "return transforms.functional.rotate(",
        in_memory("    loader = DataLoader("),
        "AnyAngle",
    ),
    waits(
        "rare_birds",
        ("loader_startup",),
        "",
        (("num_workers=4, pin", "num_workers=4, persistent_workers=True, pin"),),
    ),
    waits(
        "query_log",
        ("python_transform", "decode_cpu", "too_few_workers"),
        "row = json.loads(line)",
        one_batch("    for step, (queries, offers) in enumerate(loader, 1):"),
    ),
    waits(
        "earthquakes",
        ("collate_ipc",),
        "return {key: np.stack(",
        one_batch("    for step, batch in enumerate(loader, 1):"),
        "together",
    ),
    own_feed(
        "board_games",
        ("own_queue", "queue"),
        "torch.from_numpy(positions.get())",
        (
            ("torch.from_numpy(positions.get()).cuda()", "kept.cuda()"),
            ("    step, until", "    kept = torch.from_numpy(positions.get())\n    step, until"),
        ),
        "queue",
    ),
    own_feed(
        "lost_and_found",
        ("own_queue", "queue", "lock", "off_cpu"),
        "self.turn.wait_for(lambda: self.held is not None)",
        (
            ("buffer.take().cuda()", "kept.cuda()"),
            ("    loss_of, start", "    kept = buffer.take()\n    loss_of, start"),
        ),
        "take",
    ),
    held_back(
        "voiceprints",
        "self.sizes[name].append(",
        (("parameter.grad.norm().item()", "parameter.grad.norm()"),),
    ),
    held_back(
        "crowd_counts",
        "worst.add(12 * step, errors.detach().cpu().tolist())",
        (("errors.detach().cpu().tolist()", "[0.0] * 12"),),
    ),
    held_back(
        "protein_letters",
        "if loss.detach() > 50:",
        (("if loss.detach() > 50:", "if step > 1_000_000:"),),
    ),
    eightfold("orbits", ("torch.randn(64, 4", "torch.randn(512, 4")),
    eightfold("lora_notes", ("(4, 64), device", "(32, 64), device")),
    Job(
        "lit_ranking",
        (
            Plant(
                HOST,
                ("host_work",),
                "order = sorted(range(len(scores))",
                ("gain_of_list", "follow"),
                (("if number % 2 == 0:", "if number < 0:"),),
            ),
        ),
    ),
    Job(
        "mixed_leaves",
        (
            Plant(
                (*HOST, "input_wait"),
                ("host_work",),
                "blurred = sum(np.roll(",
                ("soften", "CutMix", "mix"),
                (("mixed[i] = self.soften(pictures[i])", "mixed[i] = pictures[i]"),),
            ),
        ),
    ),
    Job(
        "latent_factors",
        (
            Plant(
                HOST,
                ("logging", "host_work"),
                "np.savetxt(self.file, means",
                ("Diary", "savetxt"),
                (('        np.savetxt(self.file, means, fmt="%.6f")\n', ""),),
            ),
        ),
    ),
    Job(
        "hyperspectral",
        (
            Plant(
                ("exposed_copy",),
                ("pageable",),
                "x = torch.from_numpy(cube).to(device)",
                cure=(
                    ("x = torch.from_numpy(cube).to(device)", "x = kept"),
                    (
                        "    begin = time.time()\n",
                        "    kept = torch.zeros(10, BANDS, SIDE, SIDE, device=device).double()\n"
                        "    begin = time.time()\n",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "painted_film",
        (
            Plant(
                ("exposed_copy", "sync"),
                ("pageable", "blocking_copies"),
                "to_encode.append(painted.cpu())",
                cure=(("painted.cpu()", "painted"),),
            ),
        ),
    ),
    Job(
        "watched_closely",
        (
            Plant(
                ("input_wait",),
                ("evaluation", "evaluation_loader", "decode_cpu"),
                "for images, labels in photos:",
                ("evaluation",),
                (("    if step % args.look_every == 0:", "    if step < 0:"),),
            ),
        ),
    ),
    Job(
        "two_mounts",
        (
            Plant(
                ("input_wait", "straggler"),
                ("straggler", "late_storage", "off_cpu", "too_few_workers"),
                "time.sleep(self.open_s)",
                ("rank 1", "GPU 1"),
                (('"/mnt/archive": 0.004', '"/mnt/archive": 0.0'),),
            ),
        ),
        gpus=2,
    ),
    Job(
        "household_power",
        cure=(('print("step", step, "loss", loss.item())', 'print("step", step)'),),
    ),
    Job(
        "shop_windows",
        cure=one_batch("    for step, (photos, kinds) in enumerate(loader, 1):"),
    ),
    Job("code_completion", cure=one_batch("    for step, ids in enumerate(loader, 1):")),
    Job("sharper_pictures", cure=(("        outbox.send(large)\n", ""),)),
    Job(
        "ships_from_space",
        cure=(('print("held out:", look(model, held_out).item())', "pass"),),
    ),
    Job("slow_twin", cure=(("losses += loss.item()", "losses += 0.0"),)),
)
