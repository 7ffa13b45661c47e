//! FunctionCall: a function of the server's, by its number. What it does with tables cannot be seen, so that only functions that
//! come with the server and read no table are called where fields are protected.

use fieldveil_postgres_wire::WireError;
use fieldveil_postgres_wire::frontend::FunctionCall;
use fieldveil_sql::{Dialect, identity};

use super::check::Readiness;
use super::client::Outcome;
use super::own_queries::Question;
use super::pending::{Awaited, PendingResponse};
use super::{CallbackOutput, ReadySession};
use crate::client_error::ClientError;
use crate::database::Core;

/// The functions of large objects, with which drivers read and write these: `lo_open`, `loread`, `lowrite` and so on.
const LARGE_OBJECTS: &[u32] = &[
    715, 764, 765, 767, 952, 953, 954, 955, 956, 957, 958, 964, 1004, 3170, 3171, 3172, 3457, 3458, 3459,
    3460,
];

/// The functions of the session, the clock, chance and advisory locks, which read no table either, as `now`, `random`,
/// `pg_backend_pid` and `pg_advisory_lock`; in rows as below.
#[rustfmt::skip]
const OF_THE_SESSION: &[u32] = &[
    89, 89, 274, 274, 745, 746, 861, 861, 1299, 1299, 1402, 1402, 1598, 1599, 2026, 2026, 2196, 2199, 2560, 2560, 2626,
    2626, 2647, 2649, 2880, 2892, 2943, 2943, 3089, 3096, 3348, 3348, 3360, 3360, 3432, 3432, 3810, 3810, 5059, 5060,
    6339, 6341, 6428, 6430,
];

/// The functions that PostgreSQL 15 and 18 come with and call immutable, which none may be that reads a table: the first and
/// the last number of each row of them.
#[rustfmt::skip]
const IMMUTABLE: &[u32] = &[
    31, 31, 33, 35, 38, 43, 46, 57, 60, 70, 72, 74, 77, 79, 84, 84, 86, 88, 90, 90, 109, 110, 115, 138, 141, 141, 144,
    173, 176, 193, 195, 196, 200, 209, 211, 225, 227, 253, 266, 268, 276, 314, 316, 324, 326, 329, 339, 348, 350, 351,
    354, 373, 376, 383, 390, 394, 396, 396, 399, 401, 404, 404, 406, 409, 421, 422, 425, 425, 432, 432, 436, 438, 440,
    472, 474, 483, 515, 516, 598, 599, 605, 605, 619, 619, 626, 626, 635, 635, 652, 653, 655, 659, 668, 669, 676, 681,
    683, 683, 696, 699, 702, 702, 704, 704, 711, 711, 714, 714, 716, 717, 720, 725, 727, 730, 740, 744, 747, 749, 752,
    754, 766, 766, 768, 772, 776, 782, 785, 785, 830, 842, 846, 860, 862, 868, 870, 885, 888, 899, 910, 911, 919, 930,
    935, 938, 940, 949, 959, 961, 972, 973, 975, 999, 1023, 1026, 1030, 1030, 1035, 1037, 1044, 1053, 1062, 1064,
    1066, 1069, 1078, 1078, 1080, 1080, 1086, 1092, 1102, 1107, 1138, 1142, 1144, 1149, 1152, 1159, 1162, 1170, 1172,
    1173, 1175, 1175, 1188, 1188, 1191, 1200, 1218, 1219, 1230, 1230, 1236, 1246, 1251, 1254, 1256, 1258, 1265, 1265,
    1267, 1268, 1271, 1283, 1286, 1289, 1292, 1293, 1295, 1298, 1304, 1304, 1308, 1311, 1314, 1319, 1326, 1326, 1339,
    1347, 1351, 1359, 1362, 1362, 1364, 1365, 1367, 1370, 1372, 1381, 1384, 1385, 1389, 1390, 1394, 1398, 1400, 1401,
    1404, 1416, 1419, 1419, 1421, 1499, 1530, 1532, 1534, 1534, 1540, 1545, 1556, 1556, 1564, 1565, 1569, 1572, 1579,
    1582, 1592, 1596, 1600, 1610, 1618, 1618, 1620, 1624, 1631, 1639, 1656, 1661, 1666, 1685, 1687, 1688, 1690, 1693,
    1696, 1699, 1701, 1712, 1715, 1715, 1718, 1750, 1764, 1764, 1766, 1767, 1769, 1769, 1771, 1771, 1779, 1779, 1781,
    1783, 1798, 1799, 1810, 1812, 1830, 1848, 1850, 1861, 1892, 1915, 1946, 1954, 1961, 1969, 1973, 1973, 1980, 1980,
    1986, 1987, 2005, 2015, 2020, 2021, 2024, 2025, 2029, 2029, 2031, 2033, 2035, 2036, 2038, 2039, 2041, 2046, 2048,
    2048, 2052, 2058, 2069, 2076, 2085, 2092, 2160, 2161, 2163, 2164, 2166, 2167, 2169, 2170, 2174, 2180, 2188, 2195,
    2233, 2234, 2284, 2285, 2288, 2288, 2292, 2296, 2298, 2305, 2308, 2313, 2316, 2316, 2319, 2321, 2331, 2331, 2333,
    2334, 2338, 2344, 2364, 2370, 2398, 2399, 2404, 2413, 2416, 2421, 2424, 2429, 2434, 2499, 2512, 2516, 2546, 2548,
    2550, 2550, 2557, 2558, 2562, 2569, 2578, 2578, 2580, 2588, 2591, 2592, 2596, 2596, 2614, 2614, 2627, 2633, 2700,
    2700, 2711, 2711, 2731, 2738, 2740, 2741, 2743, 2744, 2746, 2749, 2763, 2768, 2774, 2774, 2777, 2778, 2785, 2787,
    2790, 2796, 2804, 2817, 2850, 2851, 2858, 2858, 2894, 2895, 2897, 2897, 2900, 2900, 2902, 2922, 2931, 2932, 2939,
    2942, 2945, 2948, 2952, 2963, 2971, 2971, 2981, 2987, 3030, 3033, 3049, 3050, 3052, 3053, 3060, 3062, 3064, 3064,
    3076, 3077, 3087, 3088, 3097, 3097, 3116, 3117, 3120, 3121, 3129, 3137, 3144, 3146, 3157, 3158, 3165, 3168, 3174,
    3174, 3178, 3179, 3181, 3187, 3196, 3196, 3202, 3203, 3207, 3208, 3210, 3210, 3214, 3219, 3229, 3239, 3251, 3252,
    3255, 3255, 3259, 3264, 3275, 3275, 3277, 3283, 3288, 3288, 3290, 3290, 3292, 3292, 3300, 3306, 3308, 3309, 3311,
    3312, 3319, 3328, 3331, 3345, 3355, 3356, 3359, 3359, 3383, 3393, 3396, 3397, 3399, 3399, 3404, 3405, 3409, 3414,
    3416, 3422, 3424, 3424, 3434, 3435, 3446, 3447, 3449, 3453, 3461, 3461, 3464, 3465, 3469, 3473, 3478, 3478, 3480,
    3480, 3482, 3489, 3496, 3499, 3504, 3504, 3508, 3515, 3524, 3525, 3535, 3536, 3543, 3544, 3546, 3549, 3551, 3551,
    3553, 3559, 3562, 3563, 3567, 3573, 3579, 3579, 3594, 3595, 3610, 3613, 3616, 3625, 3634, 3635, 3638, 3641, 3646,
    3654, 3656, 3658, 3662, 3673, 3684, 3684, 3691, 3692, 3695, 3701, 3703, 3711, 3713, 3713, 3715, 3715, 3717, 3721,
    3723, 3726, 3728, 3729, 3731, 3732, 3738, 3741, 3743, 3747, 3773, 3774, 3790, 3793, 3795, 3799, 3803, 3806, 3813,
    3813, 3822, 3822, 3840, 3841, 3844, 3876, 3879, 3881, 3902, 3902, 3914, 3915, 3917, 3918, 3920, 3925, 3928, 3934,
    3937, 3938, 3940, 3951, 3953, 3953, 3955, 3959, 3968, 3971, 3973, 3973, 3975, 3975, 3977, 3977, 3979, 3979, 3981,
    3981, 3983, 3983, 3985, 3985, 3987, 3987, 3989, 3989, 3991, 3991, 3993, 3996, 3998, 3998, 4001, 4011, 4018, 4031,
    4038, 4052, 4057, 4057, 4063, 4063, 4067, 4067, 4071, 4071, 4087, 4088, 4091, 4091, 4094, 4095, 4105, 4108, 4110,
    4134, 4136, 4141, 4187, 4188, 4196, 4197, 4201, 4202, 4205, 4206, 4211, 4212, 4214, 4214, 4216, 4216, 4228, 4228,
    4235, 4241, 4244, 4300, 4302, 4388, 4401, 4401, 4541, 4542, 4549, 4549, 4591, 4597, 4616, 4639, 5003, 5004, 5006,
    5007, 5010, 5016, 5018, 5019, 5022, 5024, 5028, 5028, 5033, 5037, 5042, 5051, 5054, 5058, 5062, 5065, 5070, 5071,
    5081, 5088, 5092, 5093, 5096, 5098, 6098, 6099, 6103, 6103, 6105, 6105, 6154, 6154, 6156, 6156, 6160, 6163, 6172,
    6172, 6177, 6180, 6192, 6193, 6195, 6196, 6198, 6202, 6204, 6204, 6219, 6220, 6222, 6222, 6225, 6226, 6233, 6236,
    6242, 6242, 6251, 6269, 6273, 6274, 6292, 6301, 6306, 6308, 6324, 6326, 6330, 6333, 6342, 6343, 6345, 6347, 6354,
    6354, 6357, 6357, 6364, 6365, 6367, 6372, 6375, 6376, 6378, 6384, 6388, 6391, 6393, 6394, 6402, 6410, 6412, 6426,
];

/// A function whose name the server was asked for.
pub struct FunctionName {
    pub number: u32,
    /// None where the server has no such function.
    pub name: Option<String>,
}

impl FunctionName {
    /// Returns the text that asks for the name, with the types of the arguments.
    pub fn question(number: u32) -> String {
        format!(
            "SELECT oid::pg_catalog.regprocedure::pg_catalog.text FROM pg_catalog.pg_proc \
             WHERE oid OPERATOR(pg_catalog.=) {number}"
        )
    }
}

impl ReadySession {
    /// Carries a FunctionCall to the server, or refuses it.
    pub(super) fn function_call(
        &mut self,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let FunctionCall { function } = FunctionCall::parse(body)?;
        let refused = |reason: &str| ClientError::unsupported(reason, "Call the function with SELECT.");
        let error = if identity::names_token(body, Dialect::Postgres) {
            refused("a function call message names fieldveil.token, and could carry a token")
        } else if core.policy.protects() && !reads_no_table(function) {
            match self.function_name(function, core, out) {
                Readiness::Wait => return Ok(Outcome::Again),
                // The server says so of this call, too.
                Readiness::Refuse(error) if error.is_failed_transaction() => {
                    return Ok(self.pass_function_call());
                }
                Readiness::Refuse(error) => error,
                Readiness::Ready(Some(name)) => refused(&format!(
                    "the function call message calls {name}, which may read a protected table"
                )),
                // The server says that it has no such function.
                Readiness::Ready(None) => return Ok(self.pass_function_call()),
            }
        } else {
            return Ok(self.pass_function_call());
        };
        self.refuse_query(error, core, out);
        Ok(Outcome::Done)
    }

    fn pass_function_call(&mut self) -> Outcome {
        self.pending.push(PendingResponse::client(Awaited::FunctionCall));
        Outcome::Passes
    }

    /// Returns the name of the function, for which the server is asked.
    fn function_name(
        &mut self,
        number: u32,
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Readiness<Option<String>> {
        if let Some(error) = core.catalog.failed.take() {
            return Readiness::Refuse(error);
        }
        match self.own_queries.function.take() {
            Some(function) if function.number == number => Readiness::Ready(function.name),
            _ => self.asking(Question::Function(number), core, out),
        }
    }
}

/// Whether the function with this number comes with the server and reads no table.
fn reads_no_table(function: u32) -> bool {
    is_within(IMMUTABLE, function) || is_within(OF_THE_SESSION, function) || LARGE_OBJECTS.contains(&function)
}

/// Whether a number is in one of these rows, each of which is told by its first and its last number.
fn is_within(rows: &[u32], number: u32) -> bool {
    // An odd place is within a row.
    let before = rows.partition_point(|bound| *bound < number);
    before % 2 == 1 || rows.get(before) == Some(&number)
}

#[cfg(test)]
mod tests {
    use super::{IMMUTABLE, LARGE_OBJECTS, OF_THE_SESSION, reads_no_table};

    #[test]
    fn rows_are_sorted_and_hold_their_ends() {
        assert!(LARGE_OBJECTS.is_sorted());
        for rows in [IMMUTABLE, OF_THE_SESSION] {
            assert!(rows.is_sorted() && rows.len() % 2 == 0);
            for row in rows.chunks(2) {
                assert!(reads_no_table(row[0]) && reads_no_table(row[1]), "{row:?}");
            }
        }
    }

    #[test]
    fn functions_that_read_tables_or_settings_are_not_among_them() {
        // query_to_xml, table_to_xml, set_config, pg_read_file, nextval, no function, the first one of a user
        for function in [2924, 2923, 2078, 2624, 1574, 0, 16_384, u32::MAX] {
            assert!(!reads_no_table(function), "{function}");
        }
        // int4pl, lower, lo_open, lo_put, now, random, pg_advisory_lock_shared
        for function in [177, 870, 952, 3460, 1299, 1598, 2881] {
            assert!(reads_no_table(function), "{function}");
        }
    }
}
