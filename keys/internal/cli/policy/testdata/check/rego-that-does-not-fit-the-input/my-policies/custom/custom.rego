# METADATA
# schemas:
#   - input: schema.input.data
package custom

allow if input.session.usr == "billing"
