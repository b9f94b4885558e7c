#!/usr/bin/env bash
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Builds and installs the module for the conda recipe in recipe.yaml.
set -euo pipefail

options=(-DENABLE_CUDA=OFF)
if [[ ${cuda_compiler_version:-None} != None ]]; then
    options=(-DENABLE_CUDA=ON -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared)
fi
# GR_PYTHON_DIR is relative to the prefix, because RPATHs are computed from this path.
cmake ${CMAKE_ARGS:-} -S . -B build/conda -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX" \
    -DPYTHON_EXECUTABLE="$PYTHON" -DPython_EXECUTABLE="$PYTHON" \
    -DPython3_EXECUTABLE="$PYTHON" -DGR_PYTHON_DIR="${SP_DIR#"$PREFIX"/}" \
    -DENABLE_GPUFEC_TESTS=OFF "${options[@]}"
cmake --build build/conda --parallel "${CPU_COUNT:-1}"
cmake --install build/conda
