#!/bin/bash
# --help, the completions and cellfs.1 name the same commands and options.
# SOURCE is the folder that holds tools/ and man/.
. "$(dirname "$0")/lib.sh"

# The commands of --help, and the options of each, "-x" and "--name".
commands() {
	cellfs --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

options() {
	cellfs "$1" --help | sed -n '/^Options:/,$p' |
	    grep -oE '^  (-.,|   ) --[a-z-]+' | grep -oE -- '-(-[a-z-]+|.)' |
	    sort
}

same() {
	[ -n "$2" ] || die "$1: none"
	[ "$2" = "$3" ] || die "$1:
$(diff <(echo "$2") <(echo "$3"))"
}

all=$(commands | sort)
[ "$(wc -l <<< "$all")" -gt 20 ] || die "too few commands: $all"

for c in $all; do
	for words in "help $c" "$c -h" "$c x --help y"; do
		# shellcheck disable=SC2086
		gives "cellfs $words" "$(cellfs "$c" --help)" cellfs $words
	done
done
for words in help -h; do
	gives "cellfs $words" "$(cellfs --help)" cellfs "$words"
done
refuses "help of no command" 2 "no such command" cellfs help frob
refuses "help of two" 2 "one operand too many" cellfs help get put

# bash
source "$SOURCE/tools/cellfs.bash"
compopt() { :; } # only completion itself may call it
bash_words() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_cellfs
	printf '%s\n' "${COMPREPLY[@]}" | sort
}
same "bash completes the commands" "$all" "$(bash_words cellfs "" |
    grep -vx -e 'help' -e '-.*')"
same "bash completes help" "$all" "$(bash_words cellfs help "")"
for c in $all; do
	same "bash completes the options of $c" "$(options "$c")" \
	    "$(bash_words cellfs "$c" - | sort)"
done
same "bash completes the forms" "$(printf '%s\n' base64 be32 be64 hex)" \
    "$(bash_words cellfs get --as "")"
same "bash completes the changes of cas" \
    "$(printf '%s\n' append delete deleteall incr put)" \
    "$(cd "$W" && bash_words cellfs cas s t r f:q = v "")"

# Operands: stores, tables that can be read cheaply, and no file names else.
cellfs create "$S" users f && cellfs create "$S" other f || die create
: > "$W/file"
# completes FUNCTION STORE: that of bash or of zsh; how it names the store.
completes() {
	cd "$W" || die cd
	same "$1: a store" "$2" "$("$1" cellfs get st)"
	same "$1: a file" "$2" "$("$1" cellfs schema store users st)"
	for words in "list store" "get store" "scan --limit 5 store" \
	    "put --as hex store" "rename store"; do
		# shellcheck disable=SC2086
		same "$1: the tables behind $words" "$(printf '%s\n' other users)" \
		    "$("$1" cellfs $words "")"
	done
	touch store/cellfs.open
	for words in "get store" "create store" "get store users" \
	    "put store users r f:q" "scan store users --from" "umount $W" \
	    "rename store users" "stats store" "get file" "get none"; do
		# shellcheck disable=SC2086
		[ -z "$("$1" cellfs $words "")" ] ||
		    die "$1: $words completes $("$1" cellfs $words "")"
	done
	rm store/cellfs.open
	cd - > /dev/null || die cd
}
completes bash_words store
same "bash goes on behind a comma" ro,umask= \
    "$(bash_words cellfs mount s d -o ro,um)"

# What cellfs mount takes: those it names itself, and whatever it completes.
mkdir "$W/mnt"
mount_options=$(bash_words cellfs mount s d -o "")
for o in $("$CELLFS" mount s d -o no-such-option 2>&1 |
    grep -oE '[a-z]+=|\bro\b'); do
	grep -qx "$o" <<< "$mount_options" || die "bash does not complete $o"
done
for o in $mount_options; do
	gives "mount takes $o" "" "$(dirname "$CELLFS")/mount.cellfs" \
	    "$W/none" "$W/mnt" -f -o "${o/%=/=$(case $o in
		cache= | buffers=) echo 2M ;; *) echo 1 ;; esac)}"
done

# zsh, with stand-ins for the functions of its completion system
zsh_words() {
	zsh -f -c '
		_describe() { print -l -- ${(P)4} | sed "s/:.*//" }
		compadd() { shift ${@[(i)--]}; print -l -- $@ }
		compset() { }
		_files() { print FILES }
		complete_it() {
			local -a words=("$@")
			local CURRENT=$#
			source "$SOURCE/tools/_cellfs"
		}
		complete_it "$@"' zsh "$@" | sort
}
if command -v zsh > /dev/null; then
	export SOURCE
	same "zsh completes the commands" "$all" "$(zsh_words cellfs "" |
	    grep -vx -e 'help' -e '-.*')"
	same "zsh completes help" "$all" "$(zsh_words cellfs help "")"
	completes zsh_words FILES
	for c in $all; do
		same "zsh completes the options of $c" "$(options "$c")" \
		    "$(zsh_words cellfs "$c" -)"
	done
	same "zsh completes the mount options" "$mount_options" \
	    "$(zsh_words cellfs mount s d -o "")"
	same "zsh completes the changes of cas" \
	    "$(printf '%s\n' append delete deleteall incr put)" \
	    "$(zsh_words cellfs cas s t r f:q = v "")"
fi

# the manual: a subsection for each command, which shows its options
man=$SOURCE/man/cellfs.1
section() {
	sed -n "/^\.Ss $1\$/,/^\.S[sh] /p" "$man"
}
manual_options() {
	{
		section "$1" | grep -oE 'Fl [0-9a-z-]+' | sed 's/Fl /-/'
		printf '%s\n' -h --help
	} | sort -u
}
same "cellfs.1 has the commands" "$all" \
    "$(sed -n '/^\.Sh COMMANDS/,/^\.Sh OPTIONS/s/^\.Ss //p' "$man" | sort)"
for c in $all; do
	same "cellfs.1 has the options of $c" "$(options "$c")" \
	    "$(manual_options "$c")"
done
same "cellfs.1 explains each option" \
    "$(for c in $all; do options "$c"; done | sort -u)" \
    "$(sed -n '/^\.Sh OPTIONS/,/^\.Sh ENV/p' "$man" | grep '^\.It Fl' |
	grep -oE '(Fl|,) [0-9a-z-]+' | sed 's/.* /-/' |
	grep -v -- --version$ | sort -u)"

if command -v mandoc > /dev/null; then
	for page in cellfs.1 mount.cellfs.8; do
		lint=$(mandoc -Tlint "$SOURCE/man/$page" 2> /dev/null |
		    grep -v 'referenced manual not found')
		[ -z "$lint" ] || die "$lint"
	done
fi
