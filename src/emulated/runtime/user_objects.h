#pragma once

/// What a program ties to the life of a graph (cudaUserObject_t): its function is called when the
/// last graph that holds the object is gone.
namespace unstarve::emulated {

/// `copy` (an executable graph) holds what `graph` holds.
void share_user_objects(const void* graph, const void* copy);
/// `graph` holds nothing any more.
void release_user_objects(const void* graph);

}  // namespace unstarve::emulated
