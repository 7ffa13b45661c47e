SET fieldveil.token = 'eyJ.e30.x'

SET LOCAL fieldveil.token TO 'eyJ.e30.x'

SET SESSION "fieldveil"."token" = $t$eyJ.e30.x$t$

SET FIELDVEIL . PURPOSE TO refund

SET fieldveil.purpose = DEFAULT; SET fieldveil.token TO DEFAULT

RESET fieldveil.token

SHOW fieldveil.purpose

SELECT set_config('fieldveil.token', 'eyJ.e30.x', true)

SELECT set_config('fieldveil.token', $1, false), pg_catalog.set_config('fieldveil.purpose', $2, true)

SELECT current_setting('fieldveil.token', true), ssn FROM customer WHERE ssn = 's'

SELECT set_config('fieldveil.purpose', ssn, true) FROM customer

SELECT set_config('fieldveil.' || 'purpose', 'x', true), ssn FROM customer WHERE ssn = 's'

BEGIN; SET LOCAL fieldveil.purpose = 'refund'; COMMIT

BEGIN; SET LOCAL fieldveil.purpose = 'refund'; SELECT ssn FROM customer WHERE ssn = 's'

SET fieldveil.purpose = 'refund'; UPDATE customer SET ssn = 's' WHERE id = 1

SELECT id FROM customer WHERE ssn = 's' /*application='shop',fieldveil.purpose='refund'*/

/*fieldveil.purpose='a%20b',fieldveil.token='eyJ.e30.x'*/ SELECT id FROM customer WHERE ssn = 's' AND name = $1

INSERT INTO customer (id, ssn) VALUES (1, 's' /*fieldveil.purpose='ref\'und'*/), (2, /* it's 'q' /* within */ */ 't')

UPDATE customer SET ssn = 's' -- fieldveil.purpose='x' it's
WHERE ssn = 't'

DELETE FROM customer WHERE ssn = '/*fieldveil.purpose=''x''*/'

SELECT ssn FROM customer WHERE ssn = 's' /*traceparent='00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01',tracestate='a%3D1'*/;
