"""Set G of the zoo, which is held out: whoever wrote it had read neither the rules nor the report,
no rule is tuned with it, and what fails in it is told in counts alone."""

from __future__ import annotations

from planted import HOST, Cure, Job, Plant, one_batch

LAUNCHES = ("many_launches", "small_kernels", "launch_bound")
SLOW_STORAGE = ("late_storage", "storage", "off_cpu")


def waits(name: str, details: tuple[str, ...], line: str, cure: Cure, *says: str) -> Job:
    """A job whose DataLoader is late."""
    return Job(name, (Plant(("input_wait",), details, line, says, cure),))


def held_back(name: str, line: str, cure: Cure) -> Job:
    """A job whose host waits for a value."""
    return Job(name, (Plant(("sync",), (), line, cure=cure),))


def eightfold(name: str, *batch: tuple[str, str]) -> Job:
    """A job that waits for launches: eight times the batch takes no longer."""
    cure = (*batch, ("step += 1", "step += 8"))
    return Job(name, (Plant(("launch",), LAUNCHES, says=("cuda_graphs_or_compile",), cure=cure),))


def works(name: str, details: tuple[str, ...], line: str, cure: Cure, *says: str) -> Job:
    """A job whose host does something else between the steps."""
    return Job(name, (Plant(HOST, details, line, says, cure),))


SET_G = (
    waits(
        "microfossils",
        ("decode_cpu", "too_few_workers"),
        'plate = np.asarray(file.convert("RGB"))',
        one_batch("        for step, (windows, species) in enumerate(loader, 1):"),
    ),
    waits(
        "lit_rivers",
        ("python_transform", "too_few_workers"),
        "return levels - np.median(windows, axis=-1)",
        (("levels - np.median(windows, axis=-1)", "levels"),),
        "WithoutSeason",
    ),
    waits(
        "parish_registers",
        ("python_transform", "too_few_workers"),
        "name = pattern.sub(letter, name)",
        (("[as_heard(word) for word in words]", "words"),),
        "as_heard",
    ),
    waits(
        "kitchen_recipes",
        ("collate_ipc", "too_few_workers"),
        "return [[math.log1p(",
        one_batch("    for step, (ids, bias, stars) in enumerate(loader, 1):"),
        "Kitchen",
        "closeness",
    ),
    waits(
        "sonar_sweeps",
        (*SLOW_STORAGE, "too_few_workers"),
        "time.sleep(0.03 if number",
        one_batch("    for step, (numbers, sweeps) in enumerate(loader):"),
        "Shelf",
    ),
    waits(
        "sheep_counts",
        ("lock", *SLOW_STORAGE),
        "fcntl.flock(file, fcntl.LOCK_EX)",
        one_batch("        for step, (pictures, sheep) in enumerate(loader, 1):"),
        "flock",
    ),
    waits(
        "tram_stops",
        ("decode_cpu", "too_few_workers"),
        "batch_size=24, shuffle=True, num_workers=1",
        one_batch("    for step, (photos, names) in enumerate(loader, 1):"),
    ),
    waits(
        "seed_catalogue",
        ("loader_startup",),
        "",
        (("num_workers=4, pin", "num_workers=4, persistent_workers=True, pin"),),
        "persistent_workers",
    ),
    waits(
        "pottery",
        ("python_transform", "decode_cpu", "storage", "too_few_workers"),
        "sherds = [np.load(file)",
        one_batch("        for step, (points, years) in enumerate(loader, 1):"),
    ),
    Job(
        "song_covers",
        (
            Plant(
                ("input_wait", *HOST),
                ("sampler",),
                "nearest = np.argsort(-(self.moods",
                ("AlikeTogether",),
                (("np.argsort(-(self.moods @ self.moods[song]))", "np.arange(self.each)"),),
            ),
        ),
    ),
    waits(
        "chess_endings",
        ("lock", *SLOW_STORAGE),
        "board = self.unpacked[block][position]",
        one_batch("    for step, (boards, winners) in enumerate(loader, 1):"),
    ),
    Job(
        "sea_ice",
        (
            Plant(
                (*HOST, "sync", "exposed_copy"),
                ("checkpoint",),
                "torch.save(",
                ("checkpoint",),
                (("if season.step % 20 == 0:", "if season.step < 0:"),),
            ),
        ),
    ),
    works(
        "survival_times",
        ("host_work",),
        "pairs = [risk > other",
        (("{concordance.value():.3f}", "later"),),
        "Concordance",
        "value",
    ),
    works(
        "restored_frescoes",
        ("host_work", "logging"),
        "save_image(sheet",
        (("if step % 5 == 0:", "if step < 0:"),),
        "save_image",
    ),
    held_back(
        "electric_fields",
        "length = (left / (way * flow).sum()).item()",
        (
            ("(way * flow).sum()).item()", "(way * flow).sum())"),
            ("found.add_(way, alpha=length)", "found.addcmul_(way, length)"),
            ("rest.sub_(flow, alpha=length)", "rest.addcmul_(flow, length, value=-1)"),
        ),
    ),
    held_back(
        "paper_marbling",
        "self.sums[name] += float(value)",
        (("+= float(value)", "+= 0.0"),),
    ),
    eightfold("wine_cellar", ("default=512", "default=4096")),
    eightfold("sea_shanties", ("default=32", "default=256")),
    Job(
        "family_albums",
        (
            Plant(
                ("exposed_copy", "sync"),
                ("pageable", "blocking_copies"),
                "return self.vectors.to(device)",
                ("Others",),
                (
                    ("torch.randn(length, width)", 'torch.randn(length, width, device="cuda")'),
                    ("vectors.detach().cpu()", "vectors.detach()"),
                ),
            ),
        ),
    ),
    Job(
        "lit_orchids",
        (
            Plant(
                ("input_wait",),
                ("evaluation", "evaluation_loader", "decode_cpu"),
                'image = Image.open(self.files[i]).convert("RGB")',
                ("evaluation", "ThisYear"),
                (("val_check_interval=25", "limit_val_batches=0"),),
            ),
        ),
    ),
    Job(
        "two_observatories",
        (
            Plant(
                ("input_wait", "straggler"),
                ("straggler", "python_transform", "too_few_workers"),
                "usual = np.median(",
                ("rank 1", "GPU 1", "without_rays"),
                (('default=["north", "south"]', 'default=["north", "north"]'),),
            ),
        ),
        gpus=2,
    ),
    Job("bread_crusts", cure=one_batch("    for step, (crusts, minutes) in enumerate(loader, 1):")),
    Job("bedtime_stories", cure=(("if step % 25 == 0:", "if step < 0:"),)),
    Job("tree_rings", cure=one_batch("    for step, batch in enumerate(loader, 1):")),
    Job("face_sketches", cure=one_batch("    for step, (drawn,) in enumerate(loader):")),
    Job("garden_birds", cure=one_batch("    for step, (photos, birds) in enumerate(loader, 1):")),
)
