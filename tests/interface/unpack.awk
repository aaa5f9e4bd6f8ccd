# Unpack the frozen header, v1.txt:        awk -v folder=FOLDER -f unpack.awk v1.txt
# The header of a later version of interface 1, in which every table, and the rows of options, have more
# members at the end, from header files:   awk -v folder=FOLDER -v root=ROOT -f unpack.awk ROOT/...
function open(name) { if (file) close(file); file = folder "/" name }
root && FNR == 1 { open(substr(FILENAME, length(root) + 2)) }
/^==> .* <==$/ { open($2); next }
/^(typedef )?struct scl_[a-z_]+ \{/ { grows = /scl_option/ }
/^  scl_head head;/ { grows = 1 }
/^}/ && grows { if (root) print "  uint64_t later[3];" > file; grows = 0 }
{ print > file }
