#include "emulated/cudnn/rnn.h"

#include <gtest/gtest.h>

namespace unstarve::emulated::cudnn {
namespace {

RnnDescriptor lstm(int input, int hidden) {
  RnnDescriptor rnn;
  rnn.input_size = input;
  rnn.hidden_size = hidden;
  return rnn;
}

TEST(RnnWeightsTest, AnLstmHasFourGatesOfTwoMatricesAndTwoBiases) {
  EXPECT_EQ(weight_count(lstm(16, 32)), 4 * 32 * (16 + 32) + 8 * 32);
}

TEST(RnnWeightsTest, MatricesThenBiasesLieWithoutGapsOrOverlaps) {
  RnnDescriptor rnn = lstm(16, 32);
  rnn.layers = 3;
  rnn.direction = Direction::kBoth;
  rnn.projection_size = 8;
  std::int64_t next = 0;
  for (int layer = 0; layer < 6; ++layer) {
    for (int matrix = 0; matrix <= 2 * rnn.gates(); ++matrix) {
      const WeightPlace place = matrix_place(rnn, layer, matrix);
      EXPECT_EQ(place.offset, next) << layer << " " << matrix;
      next += std::int64_t{place.rows} * place.columns;
    }
  }
  for (int layer = 0; layer < 6; ++layer) {
    for (int matrix = 0; matrix < 2 * rnn.gates(); ++matrix) {
      EXPECT_EQ(bias_place(rnn, layer, matrix).offset, next) << layer << " " << matrix;
      next += rnn.hidden_size;
    }
  }
  EXPECT_EQ(next, weight_count(rnn));
}

TEST(RnnWeightsTest, ALaterLayerReadsBothDirectionsOfTheOneBefore) {
  RnnDescriptor rnn = lstm(16, 32);
  rnn.layers = 2;
  rnn.direction = Direction::kBoth;
  EXPECT_EQ(matrix_place(rnn, 1, 0).columns, 16);
  EXPECT_EQ(matrix_place(rnn, 2, 0).columns, 64);
}

TEST(RnnWeightsTest, ThereAreNoBiasesWhereNoneWereAskedFor) {
  RnnDescriptor rnn = lstm(16, 32);
  rnn.bias = BiasMode::kNone;
  EXPECT_EQ(bias_place(rnn, 0, 0).columns, 0);
  EXPECT_EQ(weight_count(rnn), 4 * 32 * (16 + 32));
  EXPECT_FALSE(valid_place(rnn, 1, 0));
  EXPECT_FALSE(valid_place(rnn, 0, 9));
}

}  // namespace
}  // namespace unstarve::emulated::cudnn
