-- Runs before the functions are applied. A function may name one that comes later in the alphabet.
SET LOCAL check_function_bodies = off;
-- wed_predicate owns two functions; their owner needs CREATE at the moment it becomes that.
GRANT USAGE, CREATE ON SCHEMA wed TO wed_predicate;
