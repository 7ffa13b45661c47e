package redirect

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

const place = "table inet " + Table

// Apply makes the rules, in the place of earlier ones, in one transaction: there is
// no moment without them. Then it verifies that they are there.
func (r *Rules) Apply() error {
	if err := r.Check(); err != nil {
		return err
	}
	connection, err := nftables.New(nftables.AsLasting())
	if err != nil {
		return explain(err)
	}
	defer connection.CloseLasting()

	// Deleting what is not there is an error, so it is added first.
	table := connection.AddTable(&nftables.Table{Name: Table, Family: nftables.TableFamilyINet})
	connection.DelTable(table)
	connection.AddTable(table)
	for _, wanted := range r.chains() {
		made := connection.AddChain(&nftables.Chain{
			Table: table, Name: wanted.name, Type: wanted.kind, Hooknum: nftables.ChainHookOutput, Priority: wanted.priority,
		})
		for _, rule := range wanted.rules {
			connection.AddRule(&nftables.Rule{Table: table, Chain: made, Exprs: rule})
		}
	}
	if err := connection.Flush(); err != nil {
		return explain(err)
	}
	return r.Verify()
}

// Verify tells whether the table holds these rules and no others. It changes nothing.
func (r *Rules) Verify() error {
	if err := r.Check(); err != nil {
		return err
	}
	connection, err := nftables.New(nftables.AsLasting())
	if err != nil {
		return explain(err)
	}
	defer connection.CloseLasting()

	all, err := connection.ListChainsOfTableFamily(nftables.TableFamilyINet)
	if err != nil {
		return explain(err)
	}
	there := slices.DeleteFunc(all, func(c *nftables.Chain) bool { return c.Table.Name != Table })
	wanted := r.chains()
	if len(there) == 0 {
		return notThere("there are no such rules here")
	}
	if len(there) != len(wanted) {
		return notThere("it has other chains than those that were asked for")
	}
	for _, one := range wanted {
		at := slices.IndexFunc(there, one.is)
		if at < 0 {
			return notThere("its chain " + one.name + " is missing, or is another one")
		}
		rules, err := connection.GetRules(there[at].Table, there[at])
		if err != nil {
			return explain(err)
		}
		if !slices.EqualFunc(rules, one.rules, sameRule) {
			return notThere("the rules of its chain " + one.name + " are not those that were asked for")
		}
	}
	return nil
}

func (c chain) is(other *nftables.Chain) bool {
	return other.Name == c.name && other.Type == c.kind &&
		other.Hooknum != nil && *other.Hooknum == *nftables.ChainHookOutput &&
		other.Priority != nil && *other.Priority == *c.priority &&
		(other.Policy == nil || *other.Policy == nftables.ChainPolicyAccept)
}

// sameRule compares as the kernel is told: what it shows is what it does.
func sameRule(there *nftables.Rule, wanted []expr.Any) bool {
	return slices.EqualFunc(there.Exprs, wanted, func(a, b expr.Any) bool {
		left, err := expr.Marshal(byte(nftables.TableFamilyINet), a)
		if err != nil {
			return false
		}
		right, err := expr.Marshal(byte(nftables.TableFamilyINet), b)
		return err == nil && bytes.Equal(left, right)
	})
}

func notThere(reason string) error {
	return fault.Failure(place, reason, "run fieldveil redirect without --check in this network namespace, and see that nothing else changes the table")
}

// unsupported are what kernels say that have no nf_tables, or lack a part of it.
var unsupported = []syscall.Errno{
	syscall.EPROTONOSUPPORT, syscall.EAFNOSUPPORT, syscall.EOPNOTSUPP, syscall.ENOENT, syscall.EINVAL, syscall.ENOSYS, syscall.ENOPROTOOPT,
}

func explain(err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fault.Failure("nf_tables", "this process may not look at or change packet filters ("+cause(err)+")",
			"run it as root with the capability NET_ADMIN, in the pod's own network")
	case errors.As(err, &number) && slices.Contains(unsupported, number):
		return fault.Failure("nf_tables", "the kernel lacks it or a part of it ("+cause(err)+")",
			"use nodes with Linux 5.2 or newer that have nf_tables with nat, redirect, reject and conntrack; or let the application connect to the sidecar's listener, without redirection")
	}
	return fault.Failure("nf_tables", "the kernel refused the rules ("+cause(err)+")", "see the kernel's log")
}

func cause(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}
