--- The environment variables that Scullery reads: a list of { name, takes, help }.
return {
  { "SCULLERY_THREADS", "a whole number",
    "threads of the engine; default: the processors that the process may use. Results do not "
      .. "depend on it." },
  { "SCULLERY_DATA", "a folder", "where files of named data sets are looked for first" },
  { "SCULLERY_DATA_URL", "an address", "a mirror from which sc.data.get fetches named sets" },
  { "SCULLERY_PLUGIN_PATH", "full paths of folders, separated by colons",
    "where plugins are looked for before the folders of the installation" },
  { "SCULLERY_ISA", "plain, avx2 or avx512", "a lesser instruction set than the machine's best" },
  { "SCULLERY_TRACEBACK", "1", "errors keep the library's own lines and frames" },
  { "XDG_CACHE_HOME", "a full path",
    "its folder scullery keeps fetched data sets; default: ~/.cache" },
}
