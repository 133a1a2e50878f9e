// SPDX-License-Identifier: Apache-2.0

package seccomp

// mountRules keep the file tree as it is: paths are the policy's language.
var mountRules = []rule{
	{
		calls: []call{
			callMount, callUmount2, callPivotRoot, callMoveMount, callOpenTree, callOpenTreeAttr,
			callFsopen, callFsconfig, callFsmount, callFspick, callMountSetattr, callChroot,
		},
		errno:  EPERM,
		name:   "mounts",
		reason: "changes what a path means",
		source: "mount(2), umount(2), pivot_root(2), chroot(2): EPERM without CAP_SYS_ADMIN or CAP_SYS_CHROOT",
	},
	{
		calls:  []call{callOpenByHandleAt},
		errno:  EPERM,
		name:   "file-handles",
		reason: "opens files by number, past every path rule",
		source: "open_by_handle_at(2): EPERM without CAP_DAC_READ_SEARCH",
	},
}

// The calls that change metadata. The newest take a structure in memory.
var (
	metadataCalls = []call{
		callChmod, callFchmod, callFchmodat, callFchmodat2,
		callChown, callFchown, callLchown, callFchownat,
		callUtime, callUtimes, callFutimesat, callUtimensat,
		callSetxattr, callLsetxattr, callFsetxattr,
		callRemovexattr, callLremovexattr, callFremovexattr,
	}
	metadataStructCalls = []call{callSetxattrat, callRemovexattrat, callFileSetattr}
)

const (
	metadataReason = "changes mode, owner, times or attributes, which no Landlock right covers"
	metadataSource = "landlock(7), \"NOTES\": chmod, chown, setxattr, utime are not restricted"
)

// metadataRules are those of a verdict for metadata.
func metadataRules(v Verdict) []rule {
	switch v {
	case Allow:
		return nil
	case Notify:
		return metadataNotify
	}
	return metadataRefuse
}

var metadataNotify = []rule{
	{
		calls: metadataCalls, then: Notify,
		reason: metadataReason, source: metadataSource,
	},
	{
		calls: metadataStructCalls, errno: ENOSYS,
		reason: metadataReason + "; callers fall back on the older calls, which the broker answers",
		source: "setxattrat(2), removexattrat(2): since Linux 6.13; file_setattr(2): since Linux 6.17",
	},
}

var metadataRefuse = []rule{
	{
		calls: metadataCalls, errno: EPERM,
		reason: metadataReason, source: metadataSource,
	},
	{
		calls: metadataStructCalls, errno: EPERM,
		reason: metadataReason, source: metadataSource,
	},
}

// fileFlagRules are those of a verdict for metadata on ioctl, alike under
// Refuse and Notify. A filter sees the request's number, not the file; the
// requests work on descriptors opened for reading.
func fileFlagRules(v Verdict) []rule {
	if v == Allow {
		return nil
	}
	return fileFlagRefuse
}

var fileFlagRefuse = []rule{{
	calls: []call{callIoctl},
	when:  "request changes a file's flags, version, verity, encryption or subvolume",
	checks: []check{{word: arg1, values: []uint32{
		0x6609,     // EXT4_IOC_MIGRATE
		0x40046602, // FS_IOC32_SETFLAGS
		0x40046604, // EXT4_IOC32_SETVERSION
		0x40047211, // FAT_IOCTL_SET_ATTRIBUTES
		0x40047602, // FS_IOC32_SETVERSION
		0x40086602, // FS_IOC_SETFLAGS
		0x40086604, // EXT4_IOC_SETVERSION
		0x40087602, // FS_IOC_SETVERSION
		0x4008941a, // BTRFS_IOC_SUBVOL_SETFLAGS
		0x40186f04, // OCFS2_IOC_REFLINK
		0x401c5820, // FS_IOC_FSSETXATTR
		0x40806685, // FS_IOC_ENABLE_VERITY
		0x41009432, // FS_IOC_SETFSLABEL
		0x50009401, // BTRFS_IOC_SNAP_CREATE
		0x5000940e, // BTRFS_IOC_SUBVOL_CREATE
		0x5000940f, // BTRFS_IOC_SNAP_DESTROY
		0x50009417, // BTRFS_IOC_SNAP_CREATE_V2
		0x50009418, // BTRFS_IOC_SUBVOL_CREATE_V2
		0x5000943f, // BTRFS_IOC_SNAP_DESTROY_V2
		0x800c6613, // FS_IOC_SET_ENCRYPTION_POLICY
		0xc0406618, // FS_IOC_REMOVE_ENCRYPTION_KEY
		0xc0406619, // FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS
		0xc0506617, // FS_IOC_ADD_ENCRYPTION_KEY
		0xc0c89425, // BTRFS_IOC_SET_RECEIVED_SUBVOL
	}}},
	errno:  EPERM,
	reason: "changes a file through a descriptor opened for reading, which no Landlock right covers",
	source: "ioctl_iflags(2): EPERM; Documentation/userspace-api/landlock.rst: IOCTL_DEV covers devices alone",
}}

// truncateRules are those of a verdict for truncation by name.
func truncateRules(v Verdict) []rule {
	switch v {
	case Allow:
		return nil
	case Notify:
		return truncateNotify
	}
	return truncateRefuse
}

// openTruncates holds for O_TRUNC (0x200) with the access modes that need no
// right to write: O_RDONLY, and 3, which Linux has for ioctls alone (open(2),
// "File access mode"). O_TRUNC with O_WRONLY or O_RDWR needs WRITE_FILE, which
// every Landlock has; creat(2) is O_WRONLY.
var (
	openTruncates   = []check{{word: arg1, mask: 0x203, values: []uint32{0x200, 0x203}}}
	openatTruncates = []check{{word: arg2, mask: 0x203, values: []uint32{0x200, 0x203}}}
)

const (
	truncateWhen   = "O_TRUNC with O_RDONLY or access mode 3"
	truncateReason = "empties a file without the right to write, since Landlock before ABI 3 has no TRUNCATE right"
	truncateSource = "Documentation/userspace-api/landlock.rst, \"File truncation (ABI < 3)\""
)

var (
	truncateNotify = append([]rule{{
		calls: []call{callTruncate}, then: Notify,
		reason: truncateReason, source: truncateSource,
	}}, truncateOpens...)
	truncateRefuse = append([]rule{{
		calls: []call{callTruncate}, errno: EACCES,
		reason: truncateReason, source: truncateSource,
	}}, truncateOpens...)
)

var truncateOpens = []rule{
	{
		calls: []call{callOpen}, when: truncateWhen, checks: openTruncates, errno: EACCES,
		reason: truncateReason, source: truncateSource,
	},
	{
		calls: []call{callOpenat}, when: truncateWhen, checks: openatTruncates, errno: EACCES,
		reason: truncateReason, source: truncateSource,
	},
	{
		calls: []call{callOpenat2}, errno: ENOSYS,
		reason: truncateReason + "; its flags are in memory, and callers fall back on openat",
		source: "openat2(2): since Linux 5.6",
	},
}
