"""The second six fields of set H, which is held out like the first: see set_h.py."""

from __future__ import annotations

from planted import HOST, Job, Plant, one_batch

SLOW_STORAGE = ("late_storage", "storage", "off_cpu")
LAUNCHES = ("many_launches", "small_kernels", "launch_bound")

SCIENCE = (
    Job(
        "galaxy_cubes",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "python_transform", "too_few_workers", *SLOW_STORAGE),
                'with h5py.File(self.path, "r") as file:',
                ("h5py", "File"),
                (
                    ("        self.path = path\n", "        self.path, self.file = path, None\n"),
                    (
                        '        with h5py.File(self.path, "r") as file:\n'
                        '            flux, noise = file["cubes/flux"][i], file["cubes/noise"][i]\n'
                        '            speed, shift = file["galaxies/speed"][i], '
                        'file["galaxies/redshift"][i]\n',
                        "        if self.file is None:\n"
                        '            self.file = h5py.File(self.path, "r")\n'
                        '            names = ("cubes/flux", "cubes/noise", "galaxies/speed", '
                        '"galaxies/redshift")\n'
                        "            self.parts = [self.file[name] for name in names]\n"
                        "        flux, noise, speed, shift = (part[i] for part in self.parts)\n",
                    ),
                ),
                "one_handle_per_worker",
            ),
        ),
    ),
    Job(
        "climate_fields",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "python_transform", "too_few_workers"),
                "return np.stack([fields[name] for name in FIELDS], axis=1)",
                ("read", "npz"),
                (
                    (
                        "        self.files = files\n",
                        "        self.files = files\n"
                        "        self.kept = [self.read(day) for day in range(len(files))]\n",
                    ),
                    ("self.read(i % len(self.files))", "self.kept[i % len(self.files)]"),
                ),
                "decode_beforehand",
            ),
            Plant(
                (*HOST, "sync"),
                ("garbage_collection", "host_work"),
                "gc.collect()",
                ("garbage", "Collect garbage", "empty_cache", "free_memory"),
                (("if step % 10 == 0:", "if step % 1000 == 0:"),),
                "collect_less_often",
            ),
        ),
    ),
    Job("protein_maps", cure=one_batch("    for step, (density, known) in enumerate(loader, 1):")),
)

GRAPHS = (
    Job(
        "solubility",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                "bonds[atom, other] = min(length, FAR - 2)",
                ("featurize", "networkx"),
                (
                    (
                        "        self.graphs = graphs\n",
                        "        self.graphs = graphs\n"
                        "        self.kept = [self.featurize(graph) for graph, _ in graphs]\n",
                    ),
                    (
                        "return *self.featurize(graph), ",
                        "return *self.kept[i % len(self.graphs)], ",
                    ),
                    ("        graph, solubility = self", "        _, solubility = self"),
                ),
                "features_beforehand",
            ),
        ),
    ),
    Job(
        "street_networks",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                "adjacency[a, b] = adjacency[b, a] = 1",
                ("neighbours",),
                (
                    (
                        "        for a, b in streets:\n"
                        "            adjacency[a, b] = adjacency[b, a] = 1\n",
                        "        a, b = torch.tensor(streets).T\n"
                        "        adjacency[a, b] = adjacency[b, a] = 1\n",
                    ),
                ),
                "vectorise",
            ),
            Plant(
                ("exposed_copy", "launch", "sync", "input_wait"),
                ("small_copies", "collate_ipc"),
                "graphs = [{name: part.to(device)",
                ("collate", "keep_graphs"),
                (
                    (
                        "    return graphs\n",
                        "    return torch.utils.data.default_collate(graphs)\n",
                    ),
                    (
                        "graphs = [{name: part.to(device) for name, part in graph.items()} "
                        "for graph in graphs]",
                        "batch = {name: part.to(device) for name, part in graphs.items()}",
                    ),
                    (
                        "        batch = {name: torch.stack([graph[name] for graph in graphs]) "
                        "for name in graphs[0]}\n",
                        "",
                    ),
                ),
                "one_tensor_per_batch",
            ),
        ),
    ),
    Job(
        "crystal_energies",
        cure=(('            print(f"mean error {error.item():.3f}")\n', "            pass\n"),),
    ),
)

RECOMMENDERS = (
    Job(
        "book_ratings",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers", *SLOW_STORAGE),
                "connection = sqlite3.connect(self.path)",
                ("sqlite3", "connect"),
                (
                    ("        self.path = path\n", "        self.path, self.open = path, None\n"),
                    (
                        "        connection = sqlite3.connect(self.path)\n"
                        "        rows = connection",
                        "        self.open = self.open or sqlite3.connect(self.path)\n"
                        "        rows = self.open",
                    ),
                    ("        connection.close()\n", ""),
                ),
                "one_handle_per_worker",
            ),
        ),
    ),
    Job(
        "music_sessions",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                "if song not in self.heard[listener]:",
                ("negatives",),
                (
                    (
                        "        self.heard = [songs.tolist() for songs in self.songs]\n",
                        "        self.heard = np.zeros((LISTENERS, SONGS), bool)\n"
                        "        np.put_along_axis(self.heard, self.songs, True, 1)\n",
                    ),
                    (
                        "        found = []\n"
                        "        while len(found) < NEGATIVES:\n"
                        "            song = random.randrange(1, SONGS)\n"
                        "            if song not in self.heard[listener]:\n"
                        "                found.append(song)\n"
                        "        return np.array(found)\n",
                        "        found = np.random.randint(1, SONGS, NEGATIVES)\n"
                        "        while (heard := self.heard[listener, found]).any():\n"
                        "            found[heard] = np.random.randint(1, SONGS, heard.sum())\n"
                        "        return found\n",
                    ),
                ),
                "vectorise",
            ),
            Plant(
                ("sync",),
                (),
                "hits += sum((rank < args.top).item() for rank in ranks)",
                (),
                (
                    ("sum((rank < args.top).item() for rank in ranks)", "(ranks < args.top).sum()"),
                    ("sum((1 / (1 + rank)).item() for rank in ranks)", "(1 / (1 + ranks)).sum()"),
                ),
                "metrics_on_device",
            ),
        ),
    ),
    Job("shop_baskets", cure=one_batch("        for batch in loader:")),
)

FILMS = (
    Job(
        "sign_language",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "too_few_workers"),
                'return torch.from_numpy(np.array(frame.convert("RGB").resize((112, 112))))',
                ("load_frame",),
                (
                    ('sorted(clip.glob("*.jpg"))]', 'sorted(clip.glob("*.jpg"))[:: self.stride]]'),
                    ("torch.stack(frames)[:: self.stride]", "torch.stack(frames)"),
                ),
                "decode_what_is_used",
            ),
        ),
    ),
    Job(
        "dash_cam",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "too_few_workers"),
                "ok, frame = video.read()",
                ("clip",),
                (
                    (
                        "        for place in range(start + CLIP):\n",
                        "        video.set(cv2.CAP_PROP_POS_FRAMES, start)\n"
                        "        for _ in range(CLIP):\n",
                    ),
                    ("if ok and place >= start:", "if ok:"),
                ),
                "decode_what_is_used",
            ),
            Plant(
                (*HOST, "sync", "exposed_copy"),
                ("checkpoint",),
                "torch.save(",
                ("checkpoint", "Save less often"),
                (('"--save-every", type=int, default=5', '"--save-every", type=int, default=500'),),
                "save_less_often",
            ),
        ),
    ),
    Job("cell_division", cure=one_batch("    for step, (film, moment) in enumerate(loader, 1):")),
)

STREAMS = (
    Job(
        "web_captions",
        (
            Plant(
                ("input_wait",),
                (*SLOW_STORAGE, "too_few_workers"),
                'answer = requests.get(f"{self.url}/{i}.jpg")',
                ("requests", "get", "Session"),
                (
                    ("        self.url = url\n", "        self.url, self.session = url, None\n"),
                    (
                        "        answer = requests.get(",
                        "        self.session = self.session or requests.Session()\n"
                        "        answer = self.session.get(",
                    ),
                ),
                "one_handle_per_worker",
            ),
        ),
    ),
    Job(
        "satellite_shards",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "too_few_workers"),
                "for path in itertools.cycle(self.paths):",
                ("get_worker_info", "num_workers"),
                (
                    (
                        "        for path in itertools.cycle(self.paths):",
                        "        info = get_worker_info()\n"
                        "        mine = self.paths[info.id :: info.num_workers]"
                        " if info else self.paths\n"
                        "        for path in itertools.cycle(mine):",
                    ),
                    ('"--workers", type=int, default=0', '"--workers", type=int, default=2'),
                ),
                "divide_among_workers",
            ),
            Plant(
                ("input_wait",),
                ("python_transform", "sampler", "too_few_workers"),
                "random.shuffle(buffer)",
                ("shuffle",),
                (
                    (
                        "                random.shuffle(buffer)\n"
                        "                yield buffer.pop(0)",
                        "                place = random.randrange(len(buffer))\n"
                        "                buffer[place], buffer[-1] = buffer[-1], buffer[place]\n"
                        "                yield buffer.pop()",
                    ),
                ),
                "swap_in_the_buffer",
            ),
        ),
    ),
    Job("token_shards", cure=one_batch("    for step, block in enumerate(loader, 1):")),
)

ANSWERS = (
    Job(
        "title_writer",
        (
            Plant(
                ("gpu_busy", "kernel_wait", "launch"),
                ("recomputed", *LAUNCHES),
                "scores = model(ids, use_cache=False, logits_to_keep=1)",
                ("use_cache", "past_key_values", "write_titles"),
                (
                    ("    words = []\n", "    words, past = [], None\n"),
                    (
                        "scores = model(ids, use_cache=False, logits_to_keep=1).logits[:, -1]",
                        "out = model(ids, past_key_values=past, logits_to_keep=1)\n"
                        "        past, scores = out.past_key_values, out.logits[:, -1]",
                    ),
                    ("        ids = torch.cat((ids, words[-1]), 1)\n", "        ids = words[-1]\n"),
                ),
                "generate_with_cache",
            ),
        ),
    ),
    Job(
        "embed_archive",
        (
            Plant(
                ("launch", "sync", "gpu_busy"),
                ("small_batch", *LAUNCHES),
                "hidden = self.model(batch",
                ("batch", "larger_batch", "cuda_graphs_or_compile"),
                (
                    (
                        '"--batch-size", type=int, default=1)',
                        '"--batch-size", type=int, default=32)',
                    ),
                ),
                "larger_batch",
            ),
            Plant(
                HOST,
                ("host_work", "logging"),
                "database.commit()",
                ("commit", "sqlite3", "store"),
                (
                    ("        database.commit()\n", ""),
                    (
                        "            step += len(vectors)\n",
                        "            step += len(vectors)\n"
                        "            if step % 512 == 0:\n"
                        "                database.commit()\n",
                    ),
                    (
                        "        database.close()\n",
                        "        database.commit()\n        database.close()\n",
                    ),
                ),
                "commit_less_often",
            ),
        ),
    ),
    Job("rerank_answers", cure=one_batch("    for step, ids in enumerate(loader, 1):")),
)

SECOND_HALF = (*SCIENCE, *GRAPHS, *RECOMMENDERS, *FILMS, *STREAMS, *ANSWERS)
