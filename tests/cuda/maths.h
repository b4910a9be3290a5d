/* The tested maths functions, in the order of their results: X(call, maximum error in CUDA's documentation, in ULPs).
 * x and y are positive and of moderate size. big is at most one million. unit is between -1 and 1. */
#define MATHS_FLOAT(X)                                                                                                \
    X(sinf(big), 2)                                                                                                   \
    X(cosf(big), 2) X(tanf(x), 4) X(asinf(unit), 2) X(acosf(unit), 2) X(atanf(x), 2) X(atan2f(x, y), 3) X(expf(x), 2) \
        X(exp2f(x), 2) X(expm1f(unit), 1) X(logf(x), 1) X(log2f(x), 1) X(log10f(x), 2) X(log1pf(x), 1)                \
            X(powf(x, y), 4) X(cbrtf(x), 1) X(hypotf(x, y), 3) X(sinhf(x), 3) X(coshf(x), 2) X(tanhf(unit), 2)        \
                X(asinhf(x), 3) X(atanhf(unit), 3) X(erff(unit), 2) X(erfcf(x), 4) X(lgammaf(x), 6) X(tgammaf(x), 5)  \
                    X(fmodf(big, y), 0) X(remainderf(big, y), 0) X(roundf(big), 0) X(nearbyintf(big), 0)              \
                        X(ldexpf(x, 5), 0) X(fdimf(x, y), 0)

#define MATHS_DOUBLE(X)                                                                                             \
    X(sin(big), 2)                                                                                                  \
    X(cos(big), 2) X(tan(x), 2) X(asin(unit), 2) X(acos(unit), 2) X(atan(x), 2) X(atan2(x, y), 2) X(exp(x), 1)      \
        X(exp2(x), 1) X(expm1(unit), 1) X(log(x), 1) X(log2(x), 1) X(log10(x), 1) X(log1p(x), 1) X(pow(x, y), 2)    \
            X(cbrt(x), 1) X(hypot(x, y), 2) X(sinh(x), 2) X(cosh(x), 1) X(tanh(unit), 1) X(asinh(x), 3)             \
                X(atanh(unit), 2) X(erf(unit), 2) X(erfc(x), 5) X(lgamma(x), 4) X(tgamma(x), 10) X(fmod(big, y), 0) \
                    X(remainder(big, y), 0) X(round(big), 0) X(nearbyint(big), 0) X(ldexp(x, 5), 0) X(fdim(x, y), 0)

enum { MATHS_RESULTS = 32 };
