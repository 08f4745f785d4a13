// SPDX-License-Identifier: Apache-2.0
/* The boot ROM reads the flash's configuration in front of the vectors. */
__attribute__((section(".flash_conf"), used)) const unsigned char flash_config[512] = {1};
