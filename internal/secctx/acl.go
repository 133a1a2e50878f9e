// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"encoding/binary"
	"fmt"
)

// The form of the attributes system.posix_acl_access and
// system.posix_acl_default (linux/posix_acl_xattr.h): a version, and entries
// of a tag, rights and an id.
const (
	aclVersion = 2
	aclHeader  = 4
	aclEntry   = 8
)

// aclTags are the tags of entries (linux/posix_acl.h).
var aclTags = map[uint16]string{1: "owner", 2: "user", 4: "owning group", 8: "group", 0x10: "mask", 0x20: "other"}

// aclIDs are the tags that name somebody.
const aclIDs = 2 | 8

// mostACL bounds an access control list: the most that an extended attribute
// can hold (XATTR_SIZE_MAX, linux/limits.h).
const mostACL = 64 << 10

// parseACL decodes an attribute; name makes the id of a "user" or a "group".
func parseACL(b []byte, name func(tag string, id uint32) ID) ([]ACLEntry, error) {
	if len(b) < aclHeader || len(b) > mostACL || (len(b)-aclHeader)%aclEntry != 0 {
		return nil, fmt.Errorf("cannot read an access control list of %d bytes", len(b))
	}
	if v := binary.LittleEndian.Uint32(b); v != aclVersion {
		return nil, fmt.Errorf("cannot read an access control list of version %d", v)
	}
	var out []ACLEntry
	for b = b[aclHeader:]; len(b) > 0; b = b[aclEntry:] {
		tag, ok := aclTags[binary.LittleEndian.Uint16(b)]
		if !ok {
			return nil, fmt.Errorf("cannot read an access control list with the tag %#x", binary.LittleEndian.Uint16(b))
		}
		e := ACLEntry{Tag: tag, Perm: permString(binary.LittleEndian.Uint16(b[2:]))}
		if binary.LittleEndian.Uint16(b)&aclIDs != 0 {
			id := name(tag, binary.LittleEndian.Uint32(b[4:]))
			e.ID = &id
		}
		out = append(out, e)
	}
	return out, nil
}

func permString(p uint16) string {
	b := []byte("---")
	for i, c := range []byte("rwx") {
		if p&(4>>i) != 0 {
			b[i] = c
		}
	}
	return string(b)
}
