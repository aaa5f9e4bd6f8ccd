--- The environment variables that Scullery reads: a list of { name, takes, help }.
return {
  { "SCULLERY_THREADS", "a whole number",
    "threads of the engine; default: the processors that the process may use. Results do not "
      .. "depend on it." },
  { "SCULLERY_DATA", "a folder", "where files of named data sets are looked for first" },
  { "SCULLERY_DATA_URL", "an address", "a mirror from which sc.data.get fetches named sets" },
  { "SCULLERY_PLUGIN_PATH", "full paths of folders, separated by colons",
    "where plugins are looked for before the folders of the installation" },
  { "SCULLERY_STARTUP", "a file", "a file of Lua that the prompt runs before the first input" },
  { "SCULLERY_PROGRESS", "a number of seconds",
    "how often a line of progress is written where there is no terminal (30); 0: no progress" },
  { "SCULLERY_LOG", "a file, - or /dev/fd/N",
    "progress as JSON lines: appended to the file, or to the standard error" },
  { "SCULLERY_SIXEL", "0 or 1",
    "whether the terminal takes pictures in sixel; default: by its name" },
  { "SCULLERY_ISA", "plain, avx2 or avx512", "a lesser instruction set than the machine's best" },
  { "SCULLERY_TRACEBACK", "1", "errors keep the library's own lines and frames" },
  { "XDG_CACHE_HOME", "a full path",
    "its folder scullery keeps fetched data sets; default: ~/.cache" },
  { "XDG_STATE_HOME", "a full path",
    "its folder scullery keeps the history of the prompt; default: ~/.local/state" },
  { "NO_COLOR", "anything", "no colours" },
}
