#pragma once

namespace unstarve::emulated {

/// What a call on an emulated GPU gives back. The numbers are cudaError_t's and CUresult's, which
/// agree; the libraries with codes of their own translate.
enum class [[nodiscard]] Outcome : int{
    kSuccess = 0,
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kNotInitialized = 3,
    kInvalidConfiguration = 9,
    kInvalidSymbol = 13,
    kInvalidMemcpyDirection = 21,
    kMissingConfiguration = 52,
    kInvalidKernel = 98,
    kNoDevice = 100,
    kInvalidDevice = 101,
    kInvalidImage = 200,
    kInvalidContext = 201,
    kFileNotFound = 301,
    kOperatingSystem = 304,
    kInvalidHandle = 400,
    kIllegalState = 401,
    kNotFound = 500,
    kNotReady = 600,
    kPeerAccessAlreadyEnabled = 704,
    kPeerAccessNotEnabled = 705,
    kContextActive = 708,
    kHostMemoryAlreadyRegistered = 712,
    kHostMemoryNotRegistered = 713,
    kCooperativeLaunchTooLarge = 720,
    kNotPermitted = 800,
    kNotSupported = 801,
    kCaptureUnsupported = 900,
    kCaptureInvalidated = 901,
    kCaptureMerge = 902,
    kCaptureUnmatched = 903,
    kCaptureUnjoined = 904,
    kCaptureIsolation = 905,
    kCaptureImplicit = 906,
    kCapturedEvent = 907,
    kCaptureWrongThread = 908,
};

}  // namespace unstarve::emulated
