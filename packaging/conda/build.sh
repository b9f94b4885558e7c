#!/usr/bin/env bash
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Builds and installs the module for the conda recipe in meta.yaml.
set -euo pipefail

cmake ${CMAKE_ARGS:-} -S . -B build/conda -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX" \
    -DPYTHON_EXECUTABLE="$PYTHON" -DPython_EXECUTABLE="$PYTHON" \
    -DPython3_EXECUTABLE="$PYTHON" -DENABLE_CUDA=OFF -DENABLE_GPUFEC_TESTS=OFF
cmake --build build/conda
cmake --install build/conda
