#include "isolation/trackers.h"

namespace unstarve::isolation {

std::vector<std::pair<std::string, std::string>> trackers_off(const std::string& folder) {
  return {
      {"WANDB_MODE", "offline"},
      {"WANDB_DIR", folder},
      // The scheme is known to servers of all versions, and needs no library.
      {"MLFLOW_TRACKING_URI", "file:" + folder + "/mlruns"},
      {"MLFLOW_REGISTRY_URI", "file:" + folder + "/mlruns"},
      {"COMET_AUTO_LOG_DISABLE", "1"},
      {"COMET_START_ONLINE", "0"},
      {"COMET_OFFLINE_DIRECTORY", folder},
      {"NEPTUNE_MODE", "offline"},
      {"CLEARML_OFFLINE_MODE", "1"},
      {"SWANLAB_MODE", "offline"},
      {"SWANLAB_LOG_DIR", folder},
      {"TRACKIO_DIR", folder},
      {"TRACKIO_SPACE_ID", ""},
      {"DVC_STUDIO_OFFLINE", "true"},
  };
}

}  // namespace unstarve::isolation
