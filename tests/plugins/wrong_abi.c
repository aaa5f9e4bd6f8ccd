/* For plugin_test.lua: a descriptor of another interface. */
#include <scullery/plugin.h>

const scl_plugin scullery_plugin = {.head = {SCL_ABI + 7, (uint32_t)sizeof(scl_plugin)},
                                    .name = "wrong_abi"};
