#!/bin/sh
# What is installed, and mount(8) with it: -t cellfs, fstab, remount, -f. In a
# mount namespace of its own, where /sbin is that of the installation.
if [ -z "${INSIDE:-}" ]; then
	[ "$(id -u)" = 0 ] && [ -e /dev/fuse ] || {
		echo "needs root and /dev/fuse"
		exit 77
	}
	INSIDE=1 exec unshare --mount --propagation private sh "$0"
fi
. "$(dirname "$0")/lib.sh"

M=$W/mnt
mkdir "$M"
trap '"$CELLFS" umount "$M" 2> /dev/null; rm -rf --one-file-system "${W:?}"' EXIT
export LIBMOUNT_FSTAB="$W/fstab"
: > "$LIBMOUNT_FSTAB"

install() { # what cmake --install takes
	cmake --install "$(dirname "$CELLFS")" "$@" > "$W/installed" 2>&1 ||
	    die "install: $(cat "$W/installed")"
}

shows() { # CLAIM TYPE,OPTION...: what findmnt knows of the mount
	claim=$1 known=,$(findmnt -no FSTYPE,OPTIONS "$M" | tr -s ' ' ,),
	for word in $(echo "$2" | tr , ' '); do
		case $known in
		*",$word,"*) ;;
		*) die "$claim: no $word: $known" ;;
		esac
	done
}

fails() { # CLAIM STATUS WORDS COMMAND...: mount(8) and its words, or ours
	claim=$1 status=$2 part=$3
	shift 3
	run "$@"
	[ "$rc" = "$status" ] || die "$claim: status $rc, not $status: $err"
	case $err in
	*"$part"*) ;;
	*) die "$claim: said '$err', not '$part'" ;;
	esac
}

free() { # the daemon ends after umount(8): wait as any command does
	cellfs list "$S" > "$W/tables" || die "the store is not free"
}

# --- where things are put
DESTDIR=$W/package install --prefix /usr
for name in mount.cellfs mount.fuse.cellfs; do
	[ "$(readlink "$W/package/sbin/$name")" = /usr/bin/cellfs ] ||
	    die "a package has no /sbin/$name"
done
install --prefix "$W/usr"
for file in bin/cellfs share/man/man8/mount.cellfs.8 \
    share/bash-completion/completions/cellfs \
    share/zsh/site-functions/_cellfs; do
	[ -s "$W/usr/$file" ] || die "$file is not installed"
done
PATH=$W/usr/bin:$PATH
mount --bind "$W/usr/sbin" "$(realpath /sbin)" || die "cannot bind /sbin"

# --- mount -t cellfs
run mount -t cellfs "$S" "$M" -o cache=32M,nosuid
[ "$rc" = 0 ] || die "mount -t cellfs: $err"
case $err in
"cellfs: $S: "*"new"*) ;;
*) die "nothing tells of a new store: '$err'" ;;
esac
mkdir "$M/t" || die "no table"
shows "mount -t cellfs" fuse.cellfs,rw,nosuid
[ "$(df --output=fstype "$M" | tail -n 1)" = fuse.cellfs ] || die "df -T"
[ "$(findmnt -no SOURCE "$M")" = "$S" ] || die "findmnt shows no source"
fails "a second mount of the store" 32 "mounted at $M" \
    mount -t cellfs "$S" "$W/usr"

# --- remount is refused, and changes nothing
fails "remount" 32 "remount: " mount -o remount,ro "$M"
fails "remount by both names" 32 "remount: " \
    mount -t cellfs -o remount,ro "$S" "$M"
mkdir "$M/t/r" || die "remount,ro is half done"
gives "the kernel's remount" "" mount -i -o remount,ro "$M"
shows "the kernel's remount" fuse.cellfs,ro
gives "and back" "" mount -i -o remount,rw "$M"
mkdir "$M/t/r1" || die "remount,rw"

# --- umount, and at once mount again
gives "umount" "" umount "$M"
gives "mount at once again" "" mount -t cellfs "$S" "$M" -o ro
shows "ro" fuse.cellfs,ro
run mkdir "$M/t/r2"
[ "$rc" = 1 ] || die "ro: a row was made"
gives "umount" "" umount "$M"
free
[ "$(cat "$W/tables")" = t ] || die "the table is lost"

# --- mount -f does all but mount
gives "-f" "" mount -f -t cellfs "$S" "$M"
findmnt "$M" > /dev/null && die "-f has mounted"
fails "-f without a directory" 32 "$W/nosuch: " \
    mount -f -t cellfs "$S" "$W/nosuch"
fails "-f of what is no directory" 32 "$W/usr/bin/cellfs: " \
    mount -f -t cellfs "$W/usr/bin/cellfs" "$M"
fails "-f of a store in its own mount" 32 "within" \
    mount -f -t cellfs "$M/store" "$M"
fails "-f with an unknown option" 1 frob mount -f -t cellfs "$S" "$M" -o frob

# --- options
fails "an unknown option" 1 "frob" mount -t cellfs "$S" "$M" -o frob
fails "a malformed option" 1 "cache=" mount -t cellfs "$S" "$M" -o cache=x
gives "-s leaves out what is unknown" "" mount -s -t cellfs "$S" "$M" -o frob
gives "umount" "" umount "$M"
fails "no directory" 32 "$W/nosuch: " mount -t cellfs "$S" "$W/nosuch"
mkdir "$W/other"
: > "$W/other/file"
fails "no store" 32 "$W/other" mount -t cellfs "$W/other" "$M"

# --- fstab
words=noauto,nofail,_netdev,user,comment=c,x-systemd.automount,x-gvfs-hide
echo "$S $M cellfs $words,X-mount.mkdir,exec,umask=027 0 0" > "$LIBMOUNT_FSTAB"
gives "noauto" "" mount -a
findmnt "$M" > /dev/null && die "noauto was mounted"
gives "a line of fstab" "" mount "$M"
shows "user is nosuid and nodev" fuse.cellfs,nosuid,nodev
[ "$(stat -c %a "$M/t")" = 750 ] || die "umask= of fstab"
gives "umount" "" umount "$M"
free
echo "$S $M cellfs nofail,cache=64M 0 0" > "$LIBMOUNT_FSTAB"
gives "mount -a" "" mount -a
shows "mount -a" fuse.cellfs
gives "mount -a passes over what is mounted" "" mount -a
gives "umount by the line of fstab" "" umount "$M"
free
echo "$W/other $M cellfs defaults 0 0" > "$LIBMOUNT_FSTAB"
fails "mount -a of no store" 32 "$W/other" mount -a

# --- the unit
unit=$W/usr/lib/systemd/system/cellfs@.service
systemd-analyze verify "$unit" > "$W/verify" 2>&1 && [ ! -s "$W/verify" ] ||
    die "the unit: $(cat "$W/verify")"
mkdir "$W/srv" "$W/lib"
unit_line() { # NAME: its command, for the instance i, in W
	sed -n "s/^$1=//p" "$unit" |
	    sed "s|/var/lib/cellfs|$W/lib|; s|/srv|$W/srv|; s|%i|i|g"
}
mkdir "$W/srv/i"
M=$W/srv/i
# shellcheck disable=SC2046
run $(unit_line ExecStart)
[ "$rc" = 0 ] || die "ExecStart: $err"
shows "the unit" fuse.cellfs,allow_other
# shellcheck disable=SC2046
gives "ExecStop" "" $(unit_line ExecStop)
findmnt "$M" > /dev/null && die "ExecStop has not unmounted"
exit 0
