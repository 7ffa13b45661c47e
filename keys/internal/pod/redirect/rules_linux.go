package redirect

import (
	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// chains are what shall be in the table, as `nft list table inet fieldveil_redirect` shows it:
//
//	chain redirected {
//		type nat hook output priority dstnat; policy accept;
//		meta skuid 10101 accept
//		oifname "lo" accept
//		tcp dport 5432 redirect to :15432
//	}
//	chain refused {
//		type filter hook output priority filter; policy accept;
//		ct state established,related accept
//		ct status dnat accept
//		meta skuid 10101 accept
//		oifname "lo" accept
//		tcp dport 5432 reject with tcp reset
//	}
//
// The second refuses what address translation passes by, such as connections that
// another rule has made untracked. It must not look at packets of connections that
// are open: the last of a closed socket have no user any more.
//
// A redirected connection over IPv6 goes to [::1]: where nobody listens there, it is
// refused, and does not pass.
func (r *Rules) chains() []chain {
	return []chain{
		{
			name: "redirected", kind: nftables.ChainTypeNAT, priority: nftables.ChainPriorityNATDest,
			rules: append(r.excepted(), r.each(func(port Port) []expr.Any {
				return []expr.Any{
					&expr.Immediate{Register: 1, Data: binaryutil.BigEndian.PutUint16(port.To)},
					&expr.Redir{RegisterProtoMin: 1, RegisterProtoMax: 1, Flags: unix.NF_NAT_RANGE_PROTO_SPECIFIED},
				}
			})...),
		},
		{
			name: "refused", kind: nftables.ChainTypeFilter, priority: nftables.ChainPriorityFilter,
			rules: append(append([][]expr.Any{
				anyBit(expr.CtKeySTATE, expr.CtStateBitESTABLISHED|expr.CtStateBitRELATED),
				anyBit(expr.CtKeySTATUS, statusDestinationTranslated),
			}, r.excepted()...), r.each(func(Port) []expr.Any {
				return []expr.Any{&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}}
			})...),
		},
	}
}

type chain struct {
	name     string
	kind     nftables.ChainType
	priority *nftables.ChainPriority
	rules    [][]expr.Any
}

// statusDestinationTranslated is IPS_DST_NAT of the kernel's nf_conntrack_common.h.
const statusDestinationTranslated = 1 << 5

// excepted comes first, and accepts: who has no user is not excepted.
func (r *Rules) excepted() (rules [][]expr.Any) {
	for _, uid := range r.ExceptUIDs {
		rules = append(rules, []expr.Any{
			&expr.Meta{Key: expr.MetaKeySKUID, Register: 1},
			equal(binaryutil.NativeEndian.PutUint32(uid)),
			accept(),
		})
	}
	if !r.Loopback {
		name := make([]byte, unix.IFNAMSIZ)
		copy(name, "lo")
		rules = append(rules, []expr.Any{&expr.Meta{Key: expr.MetaKeyOIFNAME, Register: 1}, equal(name), accept()})
	}
	return rules
}

// each gives a rule for each port: TCP to it, then the end.
func (r *Rules) each(end func(Port) []expr.Any) (rules [][]expr.Any) {
	for _, port := range r.Ports {
		rules = append(rules, append([]expr.Any{
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
			equal([]byte{unix.IPPROTO_TCP}),
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
			equal(binaryutil.BigEndian.PutUint16(port.From)),
		}, end(port)...))
	}
	return rules
}

// anyBit accepts connections of which one of these bits is set.
func anyBit(key expr.CtKey, bits uint32) []expr.Any {
	return []expr.Any{
		&expr.Ct{Key: key, Register: 1},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: binaryutil.NativeEndian.PutUint32(bits), Xor: make([]byte, 4)},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: make([]byte, 4)},
		accept(),
	}
}

func equal(data []byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: data} }

func accept() expr.Any { return &expr.Verdict{Kind: expr.VerdictAccept} }
