# Completion of tsalt-ssh for fish: tsalt-ssh completion fish | source
function __tsalt_ssh_complete
    set -l answer @answer@
    set -l words (commandline -opc)
    set -l current (commandline -ct | string replace -ra '[\'"\\\\]' '')
    for line in (sh -c $answer tsalt-ssh $words "$current")
        switch $line
            case '#files*'
                __fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current")
            case '#folders*'
                __fish_complete_directories (string replace -r -- '^--[^=]*=' '' "$current")
            case '*'
                echo $line
        end
    end
end

complete -c tsalt-ssh -f -a '(__tsalt_ssh_complete)'
