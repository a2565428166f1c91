// A projection that Python holds, for the files that take one.
#pragma once

#include "../projection.hpp"
#include "arrays.hpp"

namespace ramodo {

// Keeps the weights, which the projection may read where they are.
struct BoundProjection {
    Projection native;
    Matrix<float> weights;
    float slope;
};

}  // namespace ramodo
