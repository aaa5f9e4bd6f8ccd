/* For plugin_test.lua: a shared object that is no plugin. */
int scullery_is_not_here(void);
int scullery_is_not_here(void) { return 0; }
