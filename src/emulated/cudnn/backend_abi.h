#pragma once

#include <cstddef>
#include <cstdint>

/// The names of cuDNN's backend interface that are looked at here, declared anew; the same in cuDNN
/// 8.9 and 9.26.
namespace unstarve::emulated::cudnn {

/// cudnnBackendDescriptorType_t.
enum class DescriptorType : std::int32_t {
  kPointwise = 0,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristic = 4,
  kExecutionPlan = 5,
  kConvolutionForward = 10,
  kConvolutionBackwardFilter = 11,
  kConvolutionBackwardData = 12,
  kPointwiseOperation = 13,
  kOperationGraph = 15,
  kTensor = 17,
  kMatmulOperation = 19,
  kSdpaForward = 41,
  kSdpaBackward = 43,
};

/// cudnnBackendAttributeType_t.
enum class AttributeType : std::int32_t {
  kHandle = 0,
  kBoolean = 2,
  kInt64 = 3,
  kFloat = 4,
  kDouble = 5,
  kVoidPointer = 6,
  kNumericalNote = 11,
  kDescriptor = 15,
  kChar = 24,
  kFraction = 26,
};

/// Bytes of one element of an attribute.
inline std::size_t element_bytes(AttributeType type) {
  switch (type) {
    case AttributeType::kHandle:
    case AttributeType::kInt64:
    case AttributeType::kDouble:
    case AttributeType::kVoidPointer:
    case AttributeType::kDescriptor: return 8;
    case AttributeType::kBoolean:
    case AttributeType::kChar: return 1;
    case AttributeType::kFraction: return 16;
    default: return 4;  // a float, or one of many enumerations
  }
}

/// cudnnBackendAttributeName_t.
enum class AttributeName : std::int32_t {
  kPointwiseMode = 0,
  kConvolutionStrides = 103,
  kConvolutionSpatialDimensions = 106,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kConfigEngine = 300,
  kConfigIntermediates = 301,
  kConfigWorkspaceBytes = 303,
  kConfigSharedMemoryBytes = 304,
  kPlanConfig = 401,
  kPlanWorkspaceBytes = 402,
  kPlanComputedIntermediates = 403,
  kPlanRunOnlyIntermediates = 404,
  kPlanJson = 405,
  kForwardConvolution = 702,
  kForwardFilter = 703,
  kForwardInput = 704,
  kForwardOutput = 705,
  kBackwardDataConvolution = 708,
  kBackwardDataFilter = 709,
  kBackwardDataInput = 710,
  kBackwardDataOutput = 711,
  kBackwardFilterConvolution = 714,
  kBackwardFilterFilter = 715,
  kBackwardFilterInput = 716,
  kBackwardFilterOutput = 717,
  kPointwiseDescriptor = 750,
  kGraphOperations = 801,
  kGraphEngineCount = 802,
  kTensorType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorUniqueId = 906,
  kTensorIsVirtual = 907,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kEngineKnobs = 1302,
  kEngineNumericalNotes = 1303,
  kEngineLayouts = 1304,
  kEngineBehaviorNotes = 1305,
  kMatmulA = 1520,
  kMatmulB = 1521,
  kMatmulC = 1522,
  kSdpaForwardQ = 2800,
  kSdpaForwardK = 2801,
  kSdpaForwardV = 2802,
  kSdpaBackwardQ = 2851,
  kSdpaBackwardK = 2852,
  kSdpaBackwardV = 2853,
};

/// cudnnPointwiseMode_t.
inline constexpr std::int32_t kCompareGreaterOrEqual = 303;
inline constexpr std::int32_t kGenerateIndex = 501;

/// cudnnBackendNumericalNote_t.
inline constexpr std::int32_t kNoteTensorCore = 0;

}  // namespace unstarve::emulated::cudnn
