# bash completion for cellfs: commands, then the options of each

_cellfs()
{
	local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}
	local commands options words= before=
	local mount_options="cache= buffers= sync= uid= gid= umask= ro rw
		allow_other allow_root auto_unmount nosuid nodev noexec noatime
		nodiratime relatime strictatime lazytime dirsync"

	commands="mount umount create alter list describe schema exists rename
		truncate drop put get scan count delete deleteall incr
		append cas compact check stats"
	if ((COMP_CWORD == 1)); then
		options="$commands --help --version"
		COMPREPLY=($(compgen -W "$options" -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]} in
	mount)
		options="-f --foreground -o --options --help"
		;;
	umount)
		options="--help"
		;;
	create)
		options="--help"
		;;
	alter)
		options="--drop --open --seal --progress --no-progress --help"
		;;
	list)
		options="--json --help"
		;;
	describe)
		options="--json --help"
		;;
	schema)
		options="--help"
		;;
	exists)
		options="--help"
		;;
	rename)
		options="--help"
		;;
	truncate)
		options="--progress --no-progress --help"
		;;
	drop)
		options="--progress --no-progress --help"
		;;
	put)
		options="--ts --ttl --as --raw-value --help"
		;;
	get)
		options="--versions --ts --since --until --filter --as --raw-value
			--json --help"
		;;
	scan)
		options="--prefix --from --to --reversed --limit --columns --filter
			--versions --since --until --batch --keys-only --raw
			-0 --null --as --json --help"
		;;
	count)
		options="--prefix --from --to --reversed --limit --columns --filter
			--versions --since --until --batch --keys-only --raw
			--json --help"
		;;
	delete)
		options="--ts --newest --help"
		;;
	deleteall)
		options="--ts --prefix --progress --no-progress --help"
		;;
	incr)
		options="--help"
		;;
	append)
		options="--as --raw-value --help"
		;;
	cas)
		words="put delete deleteall incr append"
		options="--absent --ts --ttl --newest --as --raw-value --help"
		;;
	compact)
		options="--progress --no-progress --help"
		;;
	check)
		options="--repair --progress --no-progress --help"
		;;
	stats)
		options="--watch --json --help"
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
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"
			compgen -f -- "$word")
	fi
}
complete -F _cellfs cellfs
