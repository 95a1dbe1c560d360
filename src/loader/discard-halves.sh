# Removes what runs that were killed an hour ago or earlier left in the workspace $p.
find "$p" -maxdepth 1 "(" -name ".node-*" -o -name ".pre-flight-*" ")" -mmin +60 -exec rm -rf {} + 2>/dev/null
