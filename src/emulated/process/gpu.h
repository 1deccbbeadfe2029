#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated/duration/work.h"
#include "emulated/engine/gate.h"
#include "emulated/engine/kept_bytes.h"
#include "emulated/engine/outcome.h"
#include "emulated/process/memory/allocation.h"
#include "emulated/profile/profile.h"

/// The emulated GPUs of this process, as the libraries that stand in for NVIDIA's see them. Each
/// function of those libraries opens an ApiCall (api_call.h) and calls one or two of these.
/// Thread rule: any thread. Nothing here throws, prints or exits.
namespace unstarve::emulated {

// Handles that programs hold; their address is the cudaStream_t, CUevent, ... Opaque.
class Stream;
class Event;
class Graph;
class GraphExec;
struct Kernel;

struct Launch {
  KernelWork work;
  bool cooperative = false;
};

/// One emulated GPU in this process: its context. Made on first use, never destroyed (programs
/// free streams and tensors while the process ends, in any order).
class Gpu {
 public:
  virtual ~Gpu() = default;

  virtual int index() const = 0;
  /// Its number on the machine; index() counts what CUDA_VISIBLE_DEVICES lets the process see.
  virtual int machine_index() const { return index(); }
  virtual const Profile& profile() const = 0;

  // ---- streams
  /// `handle` as a program passes it: 0 and 1 are the legacy default stream, 2 the calling
  /// thread's own default. nullptr: there is no such stream (any more).
  virtual Stream* find_stream(const void* handle) = 0;
  virtual Outcome create_stream(bool blocks_on_default, int priority, Stream** out) = 0;
  virtual Outcome destroy_stream(Stream* stream) = 0;
  virtual Outcome query(Stream* stream) = 0;  // kSuccess: all done; kNotReady
  virtual Outcome synchronize(Stream* stream) = 0;
  virtual Outcome synchronize_device() = 0;
  /// As cudaDeviceReset: waits, then ends what the process made on this GPU.
  virtual Outcome reset() { return synchronize_device(); }
  virtual Outcome wait_event(Stream* stream, Event* event) = 0;
  /// `function(argument)` on a thread of the process's own when everything before has ended; what
  /// comes after in the stream waits until it returned.
  virtual Outcome launch_host_function(Stream* stream, void (*function)(void*), void* argument) = 0;

  // ---- work
  virtual Outcome launch(Stream* stream, const Kernel* kernel, const Launch& launch) = 0;
  /// Work of a library; `name` is what a profiler shows of it and must live for ever.
  virtual Outcome run(Stream* stream, const char* name, const MatmulWork& work) = 0;
  virtual Outcome run(Stream* stream, const char* name, const ConvolutionWork& work) = 0;
  virtual Outcome run(Stream* stream, const char* name, const OtherWork& work) = 0;
  /// Work whose length is known, the collective of several GPUs say.
  virtual Outcome run_for(Stream* stream, const char* name, std::int64_t duration_ns) = 0;
  /// Work that begins and ends when `gate` says, the collective of several GPUs (engine/gate.h).
  /// It takes no share of the device.
  virtual Outcome run_gated(Stream* stream, const char* name,
                            const std::shared_ptr<Gate>& gate) = 0;
  virtual Outcome copy(Stream* stream, const Copy2d& copy) = 0;
  virtual Outcome fill(Stream* stream, void* target, int value, std::size_t bytes, bool waits) = 0;

  // ---- memory
  virtual Outcome allocate(std::size_t bytes, MemoryPlace place, void** out) = 0;
  /// As cudaFree: waits for the device first.
  virtual Outcome free(void* address) = 0;
  /// As cudaMallocAsync, cudaFreeAsync: in the stream's order, without waiting.
  virtual Outcome allocate_in_order(Stream* stream, std::size_t bytes, void** out) = 0;
  virtual Outcome free_in_order(Stream* stream, void* address) = 0;
  virtual void memory_info(std::size_t* free_bytes, std::size_t* total_bytes) = 0;
  /// Memory without an address (cuMemCreate): counted, and given back.
  virtual Outcome take_memory(std::size_t /*bytes*/) { return Outcome::kNotSupported; }
  virtual void give_memory(std::size_t /*bytes*/) {}
  /// Lets addresses that the caller reserved be known as memory of this GPU, uncounted (cuMemMap,
  /// memory of another process), until forget_range.
  virtual Outcome know_range(void* /*address*/, std::size_t /*bytes*/) {
    return Outcome::kNotSupported;
  }
  virtual Outcome forget_range(void* /*address*/) { return Outcome::kNotSupported; }

  // ---- capture
  virtual Outcome begin_capture(Stream* stream, int mode) = 0;
  virtual Outcome end_capture(Stream* stream, Graph** out) = 0;
};

// ---- what belongs to no one GPU

/// The process's GPUs; 0 and an Outcome other than kSuccess in a forked child of a process that
/// used them already (kNotInitialized), and where the settings cannot be read (kNoDevice).
int gpu_count();
Outcome usable();
/// nullptr: no such GPU.
Gpu* gpu_at(int index);
/// The calling thread's, as cudaSetDevice chose it; 0 at first. Never nullptr while usable().
Gpu* current_gpu();
Outcome set_current_gpu(int index);
/// The GPU that a stream, an event, a graph belongs to.
Gpu* gpu_of(const Stream* stream);

/// Facts about a stream.
int priority_of(const Stream* stream);
bool blocks_on_default(const Stream* stream);
std::uint64_t id_of(const Stream* stream);
/// The capture that a stream is part of; 0: none. kCaptureInvalidated when it cannot end well.
struct CaptureState {
  bool active = false;
  bool invalidated = false;
  std::uint64_t id = 0;
  Graph* graph = nullptr;
};
CaptureState capture_of(const Stream* stream);
/// cudaThreadExchangeStreamCaptureMode; returns the thread's mode before.
int exchange_capture_mode(int mode);

// ---- events
Outcome create_event(bool timing, bool blocking_sync, Event** out);
Event* find_event(const void* handle);
Outcome destroy_event(Event* event);
Outcome record_event(Event* event, Stream* stream);
Outcome query_event(Event* event);
Outcome synchronize_event(Event* event);
Outcome elapsed_ms(Event* start, Event* end, float* ms);

// ---- graphs
Outcome create_graph(Graph** out);
Outcome destroy_graph(Graph* graph);
std::size_t node_count(const Graph* graph);
Outcome instantiate(const Graph* graph, GraphExec** out);
Outcome launch_graph(GraphExec* exec, Stream* stream);
Outcome destroy_graph_exec(GraphExec* exec);

// ---- host memory
Outcome allocate_pinned(std::size_t bytes, void** out);
Outcome free_pinned(void* address);
Outcome register_host(void* address, std::size_t bytes);
Outcome unregister_host(void* address);
/// What lies at `address`; place kUnregistered: unknown to CUDA.
Allocation find_allocation(const void* address);
/// Bytes as a copy left them in device memory, for a library that must look at them (the pointer
/// mode "device", a collective of a few bytes): how many of `bytes` are known; the rest is zeros.
std::size_t read_kept(const void* address, void* target, std::size_t bytes);
void write_kept(void* address, const void* source, std::size_t bytes);
/// The same for bytes that are known later (engine/kept_bytes.h), without waiting for them.
std::vector<KeptPiece> kept_pieces(const void* address, std::size_t bytes);
void write_kept_late(void* address, LateBytes bytes);
/// The process talks with others, by NCCL: KeptBytes::kOfTalkers.
void keep_more();

// ---- kernels
/// Kernels live for ever. The same name twice is two kernels.
Kernel* register_kernel(const char* name);
const char* name_of(const Kernel* kernel);
/// The kernel that a program means by `handle`, if one was registered; else nullptr.
Kernel* find_kernel(const void* handle);

// ---- waiting, for cudaSetDeviceFlags
enum class WaitRule : std::uint8_t { kAuto, kSpin, kYield, kBlock };
void set_wait_rule(WaitRule rule);
WaitRule wait_rule();

/// CLOCK_MONOTONIC.
std::int64_t now_ns();

/// Says once per process and function that `function` of `library` ("libcusparse.so.12") is not
/// there: a line "LIBRARY FUNCTION" at the end of the emulation's log (UNSTARVE_EMULATED_LOG, or
/// nowhere).
void report_missing(const char* library, const char* function);

}  // namespace unstarve::emulated
