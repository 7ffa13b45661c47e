# The plan of a sidecar none of whose columns is protected.
package loadtests.nothing

plan := object.union(data.fieldveil.plan, {"fields": []})
