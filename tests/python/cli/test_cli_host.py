"""Runs in which no GPU could be seen: what the host's records alone say of a CPU training."""

from __future__ import annotations

from recorded import line_of, lines_of, remedies_of, report_of, text_of

JOB = "convolves.py"


def test_a_job_that_is_fed_is_told_so() -> None:
    found, lines = report_of("fed"), lines_of("fed")
    text = "\n".join(lines)
    assert found["verdict"].startswith("Not input-bound: waiting for the data loader at ")
    assert "is the training itself, on the CPU" in found["verdict"]
    time = found["thread_time"]
    assert time["input_wait"] < 0.05
    assert time["sync"] == {"absent": "not_observed"}
    assert time["input_wait"] + time["own_work"] == 1
    assert found["steps"]["samples_per_s"] > 0
    # Short, in words that need no manual, and without advice that nobody needs.
    assert len(lines) <= 15, text
    assert "samples/s" in text
    assert "num_workers" not in text
    for internal in ("_ratio", "Not seen, so not judged", "gpu_low_cpu_low", "absent"):
        assert internal not in text
    assert "GPU activity was not observed (this job trains on the CPU)" in text
    assert [unseen["what"] for unseen in found["not_observed"]] == ["GPU activity"]
    assert found["abstentions"], "they are in the JSON as before"


def test_a_starving_job_is_told_why() -> None:
    found, lines = report_of("starved"), lines_of("starved")
    verdict = found["verdict"]
    share = found["findings"][0]["share"]
    assert share > 0.5
    assert verdict.startswith(f"Input-bound: {share:.0%}".replace("%", " %")), verdict
    made, iterated = line_of(JOB, "train(DataLoader(Data(320"), line_of(JOB, "for images, labels")
    assert f"at {JOB}:{made} (iterated at {JOB}:{iterated})" in verdict
    assert ", mostly because of " in verdict
    assert "GPU" not in verdict, "there is none to speak of"
    finding = found["findings"][0]
    assert (finding["cause"], finding["confidence"]) == ("input_wait", "clear")
    assert finding["detail"] == "python_transform"
    assert len(lines) <= 18, lines
    # A remedy that competes with the training is named for a gain that is sure, or not at all.
    for remedy in finding["remedies"]:
        if remedy["id"] in ("more_workers", "unstarve_loader"):
            sure = remedy["predicted"].get("low", 0) > 1
            assert sure or remedy["how"][5:40] not in verdict


def test_workers_in_lockstep_do_not_start_anew() -> None:
    found = report_of("lockstep")
    assert found["verdict"].startswith("Input-bound: ")
    assert "start anew" not in text_of("lockstep")
    assert "persistent_workers" not in remedies_of(found)
    assert found["findings"][0]["detail"] != "loader_startup"
    evidence = " ".join(found["findings"][0]["evidence"])
    assert "2 workers" in evidence


def test_workers_that_start_anew_are_seen_to() -> None:
    found = report_of("restarting")
    assert found["findings"][0]["detail"] == "loader_startup"
    assert "workers that start anew" in found["verdict"]
    assert "persistent_workers" in remedies_of(found)
    evidence = " ".join(found["findings"][0]["evidence"])
    assert "5 times" in evidence, "the first start lies in the warm-up"


def test_workers_that_live_on_are_not_blamed_for_starting() -> None:
    assert "persistent_workers" not in remedies_of(report_of("living_on"))


def test_all_is_shown_when_asked_for() -> None:
    for command in ("report", "diagnose"):
        assert "Not seen, so not judged" not in text_of("fed", command=command)
        verbose = text_of("fed", "--verbose", command=command)
        assert "Not seen, so not judged" in verbose
        assert "gpu_compute_ratio" in verbose
        assert "What watching cost" in verbose


def test_a_gpu_that_was_seen_is_not_missing() -> None:
    found = report_of("fed_gpu")
    assert found["not_observed"] == []
    assert "partition" in found
    assert "GPU activity was not observed" not in text_of("fed_gpu")
