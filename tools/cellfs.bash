# bash completion for cellfs: commands, the options of each, stores, and tables

# The tables of a store, where reading them is cheap: nobody has it open, and
# it needs no recovery.
_cellfs_tables()
{
	local store=${1/#\~/$HOME}

	[[ -e $store/cellfs.store && ! -e $store/cellfs.open ]] || return 0
	cellfs list "$store" 2> /dev/null
}

# The names that may stand behind these operands: files, or tables. Of rows,
# columns and values none is known.
_cellfs_operand()
{
	local command=$1 word=$2

	shift 2
	case $command/$# in
	help/*) ;;
	mount/1 | umount/0) compgen -d -- "$word" ;;
	*/0 | schema/2) compgen -f -- "$word" ;;
	create/* | mount/* | umount/* | check/* | stats/*) ;;
	*/1) compgen -W "$(_cellfs_tables "$1")" -- "$word" ;;
	esac
}

_cellfs()
{
	local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}
	local commands options words= before= at
	local -a operands
	local with_argument="--as --batch --columns --drop --filter --from
		--limit -o --options --prefix --since --to --ts --ttl --until
		--versions "
	local mount_options="cache= buffers= sync= uid= gid= umask= ro rw
		allow_other allow_root auto_unmount nosuid nodev noexec noatime
		nodiratime relatime strictatime lazytime dirsync"

	commands="mount umount create alter list describe schema exists rename
		truncate drop put get scan count delete deleteall incr
		append cas compact check stats"
	if ((COMP_CWORD == 1)); then
		options="$commands help -h --help --version"
		COMPREPLY=($(compgen -W "$options" -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]} in
	help)
		words=$commands
		;;
	mount)
		options="-f --foreground -o --options -h --help"
		;;
	umount)
		options="-h --help"
		;;
	create)
		options="-h --help"
		;;
	alter)
		options="--drop --open --seal --progress --no-progress -h --help"
		;;
	list)
		options="--json -h --help"
		;;
	describe)
		options="--json -h --help"
		;;
	schema)
		options="-h --help"
		;;
	exists)
		options="-h --help"
		;;
	rename)
		options="-h --help"
		;;
	truncate)
		options="--progress --no-progress -h --help"
		;;
	drop)
		options="--progress --no-progress -h --help"
		;;
	put)
		options="--ts --ttl --as --raw-value -h --help"
		;;
	get)
		options="--versions --ts --since --until --filter --as --raw-value
			--json -h --help"
		;;
	scan)
		options="--prefix --from --to --reversed --limit --columns --filter
			--versions --since --until --batch --keys-only --raw
			-0 --null --as --json -h --help"
		;;
	count)
		options="--prefix --from --to --reversed --limit --columns --filter
			--versions --since --until --batch --keys-only --raw
			--json -h --help"
		;;
	delete)
		options="--ts --newest -h --help"
		;;
	deleteall)
		options="--ts --prefix --progress --no-progress -h --help"
		;;
	incr)
		options="-h --help"
		;;
	append)
		options="--as --raw-value -h --help"
		;;
	cas)
		words="put delete deleteall incr append"
		options="--absent --ts --ttl --newest --as --raw-value -h --help"
		;;
	compact)
		options="--progress --no-progress -h --help"
		;;
	check)
		options="--repair --progress --no-progress -h --help"
		;;
	stats)
		options="--watch --json -h --help"
		;;
	esac
	if [[ $last == --as ]]; then
		COMPREPLY=($(compgen -W "hex base64 be64 be32" -- "$word"))
	elif [[ ${COMP_WORDS[1]}$last == mount@(-o|--options) ]]; then
		[[ $word != *,* ]] || before=${word%,*},
		COMPREPLY=($(compgen -P "$before" -W "$mount_options" -- \
		    "${word##*,}"))
		compopt -o nospace
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$word"))
	elif [[ ${with_argument//[[:space:]]/ } != *"$last "* ]]; then
		for ((at = 2; at < COMP_CWORD; at++)); do
			case ${COMP_WORDS[at]} in
			-*) [[ ${with_argument//[[:space:]]/ } != \
			    *"${COMP_WORDS[at]} "* ]] || ((++at)) ;;
			*) operands+=("${COMP_WORDS[at]}") ;;
			esac
		done
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"
			_cellfs_operand "${COMP_WORDS[1]}" "$word" \
			    "${operands[@]}")
	fi
}
complete -F _cellfs cellfs
