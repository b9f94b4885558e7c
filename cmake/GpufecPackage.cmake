# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

# Settings of the Debian package that CPack makes. Run packaging/make-deb to make the
# package.

set(CPACK_PACKAGE_NAME gr-gpufec)
set(CPACK_PACKAGE_VERSION ${GPUFEC_VERSION})
set(CPACK_PACKAGE_VENDOR "gr-gpufec developers")
set(CPACK_PACKAGE_CONTACT "gr-gpufec developers <gr-gpufec@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "Viterbi, LDPC and synchronisation decoders for GNU Radio")
set(CPACK_PACKAGE_DESCRIPTION
    "Decoders of error-correcting codes for GNU Radio and for arrays in Python, which decode
streams of soft values on an NVIDIA GPU, or with SIMD instructions on the CPU: convolutional
codes, the LDPC codes of DVB-S2 and others, and codes for channels that insert and delete
bits. The package contains the command line tool gpufec.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION hamradio)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# dpkg-shlibdeps finds the package's own library, to which the Python module links, in this
# folder.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gnuradio (>= 3.10), python3, python3-numpy")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-matplotlib")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-distributed")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/postinst"
                                       "${PROJECT_SOURCE_DIR}/packaging/debian/prerm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_GENERATOR DEB)
include(CPack)
