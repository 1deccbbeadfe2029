"""Kernels run beside the host, in the order of their stream; events mark points of it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from checks import check, least, milliseconds, raises, sometimes
from work import device_ms, host_ms, in_stream, join, measure_pass, work

one = measure_pass()
small = torch.ones(1, device="cuda")
stream = torch.cuda.current_stream()
side, other = torch.cuda.Stream(), torch.cuda.Stream()
check("a pass over 2 GiB takes the time that memory needs", 0.8 < one < 2.5, one)

issue = least(lambda: host_ms(lambda: work(40)), 10 * one)
check("launches return before the work ends", issue < 20 * one, (issue, one))


def launched_and_waited(wait: Callable[[], object]) -> float:
    return host_ms(lambda: work(20), wait)


check("synchronize waits for the work", launched_and_waited(torch.cuda.synchronize) > 19 * one)
idle = least(lambda: host_ms(torch.cuda.synchronize), 0.5)
check("synchronize of an idle device returns at once", idle < one, idle)
check("item() waits for what was launched before", launched_and_waited(small.item) > 19 * one)
check("a copy to pageable memory waits", launched_and_waited(small.cpu) > 19 * one)
check("so does a stream's synchronize", launched_and_waited(stream.synchronize) > 19 * one)


def is_busy() -> bool:
    work(20)
    return not stream.query()


check("a busy stream is not ready", sometimes(is_busy))
stream.synchronize()
check("a synchronised stream is ready", stream.query())
check(
    "a stream without work is ready while another works",
    sometimes(lambda: is_busy() and side.query()),
)
torch.cuda.synchronize()


def both_work() -> None:
    for each in (side, other):
        in_stream(each, lambda: work(10))
    join(side, other)


# A pass fills the device, so that two at a time take as long as one after the other.
both = least(lambda: device_ms(both_work), 21 * one)
check("streams that fill the device share it", 18 * one < both < 26 * one, (both, one))

# ---- events
event = torch.cuda.Event()
check("an event that was never recorded is complete", event.query())
never = least(lambda: milliseconds(event.synchronize), 1)
check("waiting for one returns at once", never < 5, never)


def event_is_pending() -> bool:
    work(20)
    event.record()
    return not event.query()


check("an event after work is not ready", sometimes(event_is_pending))
event.synchronize()
check("an event that was waited for is ready", event.query())


def later_work_goes_on() -> bool:
    work(5)
    event.record()
    work(60)
    event.synchronize()
    return not stream.query()


check("waiting for an event does not wait for later work", sometimes(later_work_goes_on))
torch.cuda.synchronize()
moved = milliseconds(
    lambda: work(5), event.record, lambda: work(30), event.record, event.synchronize
)
check("recording again moves an event", moved > 34 * one, (moved, one))

span = least(lambda: device_ms(lambda: work(10)), 11 * one)
check("elapsed time is the work's between", 9.5 * one < span < 14 * one, (span, one))
nothing = least(lambda: device_ms(lambda: None), 0.1)
check("elapsed time of nothing is next to nothing", 0 <= nothing < 0.5, nothing)
timed, untimed = torch.cuda.Event(enable_timing=True), torch.cuda.Event()
timed.record()
untimed.record()
torch.cuda.synchronize()
check(
    "events without timing have no elapsed time",
    raises(Exception, lambda: timed.elapsed_time(untimed)),
)


def unfinished_fails() -> bool:
    end = torch.cuda.Event(enable_timing=True)
    work(20)
    end.record()
    return raises(Exception, lambda: timed.elapsed_time(end))


check("elapsed time of an unfinished event fails", sometimes(unfinished_fails))
torch.cuda.synchronize()

# ---- one stream waits for another
done = torch.cuda.Event()


def side_waits() -> bool:
    torch.cuda.synchronize()
    work(20)
    done.record()
    side.wait_event(done)
    with torch.cuda.stream(side):
        small.add_(1)
    return not side.query() and not done.query()


check("a stream waits for another's event, the host does not", sometimes(side_waits))
side.synchronize()
check("it goes on when the event is complete", done.query())


def waits_for_the_past() -> bool:
    torch.cuda.synchronize()
    work(20)
    done.record()
    side.wait_event(done)
    work(60)
    done.record()
    side.synchronize()
    return not stream.query()


check("a wait means the event as it was at the call", sometimes(waits_for_the_past))
torch.cuda.synchronize()
side.wait_event(torch.cuda.Event())
check("waiting for an unrecorded event waits for nothing", side.query())

blocking = torch.cuda.Event(blocking=True)
slept = milliseconds(lambda: work(10), blocking.record, blocking.synchronize)
check("a blocking event waits as well", slept > 9 * one, (slept, one))

low, high = torch.cuda.Stream(priority=0), torch.cuda.Stream(priority=-1)
check("streams have the priority they were made with", (low.priority, high.priority) == (0, -1))
check("the default stream is stream 0", torch.cuda.default_stream().cuda_stream == 0)

# A launch costs the host 4 to 7 us, and torch some on top.
launches = least(lambda: host_ms(lambda: [small.add_(1) for _ in range(200)]), 8)
check("short launches cost the host microseconds", 0.8 < launches < 40, launches)


def fill_the_queue() -> float:
    return host_ms(lambda: work(100), lambda: [small.add_(1) for _ in range(1100)])


held_back = fill_the_queue()
check("a full queue holds the host back", held_back > 70 * one, (held_back, one))
torch.cuda.synchronize()
