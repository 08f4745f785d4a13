// SPDX-License-Identifier: Apache-2.0
// The shared library of the Python package has no code of its own: it is the compiler and its verbs
// (python.cmake).
