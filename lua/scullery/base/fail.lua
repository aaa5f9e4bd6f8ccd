--- fail(format, ...): raises an error whose message is string.format(format, ...), without the
--- position of a line of the library: options.guard and options.check put the caller's position and
--- the name of the function in front of it. Never returns, so `x = f() or fail(...)` is allowed.
return function(...) error(string.format(...), 0) end
