#pragma once

#include <cstdint>
#include <string>

#include "roofline/roofs/machine.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// The roofs `decode.{unstarve,libjpeg,shard}.N_threads`: whole photographs decoded to RGB in a
/// second, by our own decoder of JPEG files, by libjpeg-turbo, and from the coefficients that
/// shards keep. They lie in memory: nothing is read from a disk. `photo_folder` has JPEG files.
void measure_decode(const Machine& machine, const std::string& photo_folder,
                    std::int64_t duration_ns, Session& session);

}  // namespace unstarve::roofline
